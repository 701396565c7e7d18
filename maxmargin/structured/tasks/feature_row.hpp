#pragma once

#include <string_view>
#include <vector>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {

/// A line `LABEL [qid:N] index:value ... # comment`. Views are into the line.
struct FeatureRow {
  std::string_view label, qid, comment;
  std::vector<Index> index;  ///< as written, increasing
  std::vector<double> value;
};

/// Reads the current line. Throws Error with its place; a line with nothing but a comment has no
/// label.
FeatureRow feature_row(const TextLines& lines);

}  // namespace maxmargin
