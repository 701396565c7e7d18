#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/piece.hpp"
#include "maxmargin/data/readers/read.hpp"

namespace maxmargin {

/// Takes one field of comma-separated text apart (RFC 4180): quotes removed, doubled quotes single,
/// blanks around it dropped.
struct CsvField {
  std::string text;
  const char* end = nullptr;         ///< at the separator or line end behind it; null: see fault
  std::size_t line_feeds = 0;        ///< inside quotes
  const char* line_start = nullptr;  ///< of the line it ends in, if it has line feeds
  const char* wrong_at = nullptr;    ///< where the fault is
  TextFault fault;
};
CsvField csv_field(const char* at, const char* text_end, char separator);

/// Whether a record ends in front of this.
inline bool ends_record(const char* at) { return *at == '\n' || (*at == '\r' && at[1] == '\n'); }

/// The first byte of a text that is not in a blank line, or its end.
inline const char* skip_blank_lines(std::string_view text) {
  const char* at = text.data();
  while (at < text.data() + text.size() && ends_record(at)) at += *at == '\r' ? 2 : 1;
  return at;
}

/// What each field of a record is.
struct CsvLayout {
  char separator = ',';
  std::size_t fields = 0;
  std::size_t features = 0;
  std::optional<std::size_t> label;    ///< the field with the label
  std::optional<std::size_t> ignored;  ///< a label column that is not wanted
  std::optional<std::size_t> weight, weight_over;
  std::optional<std::size_t> id;
  std::vector<std::string> names;  ///< of all fields; empty without a header
  std::size_t header_bytes = 0;    ///< what comes before the first row: blank lines, header
  std::size_t header_lines = 0;

  bool is_feature(std::size_t field) const {
    return label != field && ignored != field && weight != field && weight_over != field &&
           id != field;
  }
  /// "column 3 ('width')"
  std::string column(std::size_t field) const;
  std::vector<std::string> feature_names() const;
};

/// Decides it from the first record of a text that has one and ends with a line feed. `start` is
/// the file and line of the text.
CsvLayout csv_layout(std::string_view text, const Place& start, char separator,
                     const ReadOptions& options);

}  // namespace maxmargin
