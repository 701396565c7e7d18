#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/data/readers/label_kind.hpp"
#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// What is wrong in a text, with line and column within the piece that is parsed.
struct TextFault {
  std::size_t line = 0;    ///< from 0 within the piece
  std::size_t column = 0;  ///< from 1, in bytes
  std::string what;
  std::string mend;
};

/// Numbers distinct words in order of appearance.
class WordList {
 public:
  Index number_of(std::string_view word);
  const std::vector<std::string>& words() const { return words_; }
  void clear();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view word) const {
      return std::hash<std::string_view>{}(word);
    }
  };
  std::vector<std::string> words_;
  std::unordered_map<std::string, Index, Hash, std::equal_to<>> number_;
};

inline constexpr Index no_word = 0xffffffff;
inline constexpr Index no_label = 0xfffffffe;  ///< the row has none: see LabelKind::optional

/// A label: a number, or a word of the piece's list.
struct Label {
  double number = 0;
  Index word = no_word;
};

/// The rows of a piece of text. Buffers are sized for the most that the text can hold, so parsing
/// needs no checks; pages that stay untouched cost nothing. A piece is used again for later text.
struct Piece {
  std::string_view text;

  std::size_t rows = 0;
  std::size_t lines = 0;    ///< line feeds
  std::size_t columns = 0;  ///< sparse: what the features need if the first has number 0 or 1
  bool zero_index = false;  ///< feature 0 occurs
  std::size_t zero_line = 0, zero_column = 0;  ///< where it first does
  std::optional<bool> queries;                 ///< whether rows have a qid; unknown without rows
  std::size_t first_line = 0;                  ///< the line of the first row
  Buffer<std::uint64_t> start;                 ///< sparse
  Buffer<Index> index;                         ///< sparse
  Buffer<double> values;
  Buffer<Label> label;
  Buffer<double> weight, weight_over;
  Buffer<std::int64_t> query;
  WordList words;
  std::optional<TextFault> fault;

  /// Room for so many values, which may be anything, in one of the buffers. Pieces differ a little
  /// in length, and the next one is to fit as well.
  template <class T>
  static void make_room(Buffer<T>& buffer, std::size_t size) {
    if (buffer.size() >= size) return;
    buffer = Buffer<T>();
    buffer.resize_for_overwrite(size + size / 4);
  }

  /// Ready for new text.
  void begin(std::string_view next);
  /// The finished rows.
  Rows sparse_view() const;
  Rows dense_view(std::size_t stride) const;
};

/// The parser of a format: what all of them share.
class PieceParser {
 protected:
  explicit PieceParser(Piece& piece) : piece_(piece) {}
  /// Stores the fault, found at `at` in the current line, in the piece; returns null.
  const char* fail(const char* at, TextFault fault) {
    fault.line = piece_.lines;
    fault.column = static_cast<std::size_t>(at - line_) + 1;
    piece_.fault = std::move(fault);
    return nullptr;
  }

  Piece& piece_;
  const char* line_ = nullptr;  ///< where the current line begins
};

/// A number if the text is one, a word otherwise. Nothing, not a finite number or control bytes:
/// returns what is wrong, with the mend in `mend`.
struct LabelProblem {
  std::string what, mend;
};
std::optional<LabelProblem> read_label(std::string_view text, LabelKind kind, WordList& words,
                                       Label& label);

/// The first byte of a text that no text has (control characters), or npos.
std::size_t first_control(std::string_view text);

}  // namespace maxmargin
