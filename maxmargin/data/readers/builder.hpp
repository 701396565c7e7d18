#pragma once

#include <optional>
#include <span>
#include <string>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/readers/formats/piece.hpp"

namespace maxmargin {

/// The labels seen so far: numbers until the first word comes, words from then on.
class LabelBook {
 public:
  bool wordy() const { return wordy_; }
  const std::vector<std::string>& words() const { return words_.words(); }

  /// Appends labels of a piece to `y`, which holds earlier labels; the first word turns those into
  /// words as well.
  void append(std::span<const Label> labels, const WordList& piece_words, Buffer<double>& y);

 private:
  double word_of_number(double number);

  bool wordy_ = false;
  WordList words_;
};

/// Puts a data set together from rows in order.
class DatasetBuilder {
 public:
  DatasetBuilder(std::string file, bool sparse, std::size_t columns);

  struct Parts {
    bool labels = true;
    bool weights = false;
    bool weights_over = false;
    double times = 1;  ///< how many times as many rows there will be
  };
  /// Appends the rows of pieces that follow each other, or throws the first fault among them. The
  /// text of the first piece starts at line `first_line`.
  void append(std::span<const Piece> pieces, std::size_t first_line, const Parts& parts,
              const Threads& threads);

  Features& features() { return x_; }
  Buffer<double>& labels() { return y_; }
  std::size_t rows() const { return x_.count(); }
  /// Where feature 0 first occurred, in LIBSVM text.
  const std::optional<Place>& zero_place() const { return zero_place_; }

  /// The rows so far; the builder goes on without them. Words are in order of appearance since the
  /// first row of all.
  Dataset take();

 private:
  void check(const Piece& piece, std::size_t line) const;

  std::string file_;
  Features x_;
  LabelBook book_;
  Buffer<double> y_;
  Buffer<double> weight_, weight_over_;
  Buffer<std::int64_t> query_;
  std::optional<bool> queries_;
  std::optional<Place> zero_place_;
};

/// Sorts the words of a data set and renumbers its labels.
void sort_words(Dataset& data);

}  // namespace maxmargin
