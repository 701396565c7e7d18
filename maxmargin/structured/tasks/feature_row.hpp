#pragma once

#include <string_view>
#include <vector>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/structured/tasks/task.hpp"
#include "maxmargin/structured/tasks/text_lines.hpp"

namespace maxmargin {

/// A line `LABEL [qid:N] index:value ... # comment`. Views are into the line.
struct FeatureRow {
  std::string_view label, qid, comment;
  std::vector<Index> index;  ///< as written, increasing
  std::vector<double> value;
};

/// Reads a word index:value of the current line. Throws Error with file and line.
void append_feature(FeatureRow& row, std::string_view word, const TextLines& lines);

/// Whether a row has to begin with its label.
enum class RowLabel { required, optional };

/// Reads the current line. Throws Error with file and line. A line with only a comment has no
/// label.
FeatureRow feature_row(const TextLines& lines, RowLabel label = RowLabel::required);

/// The rows of a file so far. To train a model they have all features; with the vocabulary of a
/// model, features that did not occur in training are left out.
class FeatureRows {
 public:
  /// Throws Error if the model's number of features is damaged.
  explicit FeatureRows(const Vocabulary* known);

  void append(const FeatureRow& row);
  const Features& x() const { return x_; }
  Features take() { return std::move(x_); }

 private:
  Features x_;
  bool fixed_;
};

/// The vocabulary of a model that FeatureRows needs: the number of features.
std::pair<std::string, std::vector<std::string>> columns_word(const Rows& rows);

}  // namespace maxmargin
