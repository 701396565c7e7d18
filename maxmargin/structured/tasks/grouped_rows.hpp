#pragma once

#include <functional>

#include "maxmargin/structured/tasks/feature_row.hpp"

namespace maxmargin {

/// Rows `LABEL qid:N index:value ...`, in groups of neighbouring rows with the same qid.
struct GroupedRows {
  Features x;
  std::vector<std::size_t> start{0};  ///< first row of each group, and the end
  std::vector<std::string> name;      ///< of each group
  std::vector<std::size_t> line;      ///< of its first row
};

struct GroupReader {
  std::string_view row, group;  ///< the words for them in messages
  /// Reads the label of a row.
  std::function<void(const FeatureRow&, const TextLines&)> take;
  /// Reads a line that is no row; false where the line is a row. `rows`: how many came before it.
  std::function<bool(const TextLines&, std::size_t rows)> take_other = {};
};

/// Throws Error with file and line.
GroupedRows read_grouped_rows(const std::string& path, const Vocabulary* known,
                              const GroupReader& reader);

}  // namespace maxmargin
