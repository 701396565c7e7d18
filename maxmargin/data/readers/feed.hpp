#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/csv_layout.hpp"
#include "maxmargin/data/readers/formats/piece.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin {

struct FeedOptions {
  ReadOptions read{};  ///< LIBSVM text, CSV or TSV; features count from 1 unless base says 0
  /// Rows have names: a column of CSV (read.id_column), the comment behind a row of LIBSVM text.
  /// A record with a name and a label but no features is a label that comes late.
  bool ids = false;
  std::size_t most_bytes = std::size_t{1} << 20;  ///< of a record
};

/// Rows that came in one piece. Views are valid until the feed is used again.
struct FeedBatch {
  Rows rows;
  std::span<const Label> labels;       ///< of each row; word == no_label: it has none
  std::span<const std::string> words;  ///< of the labels
  std::vector<std::string> ids;        ///< of each row, if rows have names
  bool is_late_label = false;          ///< one row without features: a label for an earlier row
  std::optional<Error> fault;          ///< a record behind these rows that cannot be read
};

/// Turns text that arrives in pieces of any size into rows, as soon as their lines are complete.
/// Holds no more than a record and what was appended since the last call of next().
class Feed {
 public:
  Feed(std::string name, FeedOptions options);

  void append(std::string_view bytes);
  /// The text has ended: its last line may lack a line feed.
  void finish();

  /// The next rows, of at most `most_lines` lines; false: none are complete yet. Throws Error when
  /// the text as a whole cannot be read (packed, UTF-16, no such column).
  bool next(FeedBatch& batch, std::size_t most_lines);

  /// Where a row of the last batch stands: its line, and its bytes in the whole text.
  struct RowPosition {
    std::uint64_t line = 0, begin = 0, end = 0;
    std::uint64_t end_line = 0;  ///< the line behind it
  };
  RowPosition position_of(std::size_t row) const;
  /// Where the record begins that the last batch has as its fault.
  std::uint64_t fault_offset() const { return fault_offset_; }
  /// Behind all that next() has given.
  std::uint64_t line() const { return line_; }
  std::uint64_t offset() const { return offset_; }
  /// As if so much of the text had been read; what decides the format comes first, `head`, and is
  /// not counted.
  void start_at(std::string_view head, std::uint64_t line, std::uint64_t offset);

  const std::string& name() const { return name_; }
  /// Names of the features, from a header.
  std::vector<std::string> feature_names() const { return layout_.feature_names(); }
  std::size_t waiting_bytes() const { return used_ - at_; }

 private:
  std::string_view waiting() const { return {text_.data() + at_, used_ - at_}; }
  void pass(std::size_t bytes, std::uint64_t lines);
  bool skip_rest_of_record();
  bool look_at_first_bytes();
  bool learn_format();
  std::size_t whole_records(std::size_t most_lines) const;
  void parse();
  void name_row(FeedBatch& batch);
  bool take_late_label(FeedBatch& batch);
  std::optional<Error> too_long();
  bool quoted() const { return format_ != Format::libsvm; }

  std::string name_;
  FeedOptions options_;
  std::string text_;  ///< with text_padding bytes behind what is used
  std::size_t used_ = 0, at_ = 0;
  bool finished_ = false, skipping_ = false;
  Format format_ = Format::automatic;
  bool looked_ = false, started_ = false;  ///< at the first bytes; with the rows
  CsvLayout layout_;
  Piece piece_;
  std::optional<bool> queries_;  ///< whether rows have a qid; unknown before the first
  Label late_label_;
  std::uint64_t line_ = 1, offset_ = 0;
  std::uint64_t batch_line_ = 1, batch_offset_ = 0;
  std::uint64_t fault_offset_ = 0;
  std::size_t batch_at_ = 0;
};

}  // namespace maxmargin
