#include "maxmargin/structured/tasks/feature_row.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {

void append_feature(FeatureRow& row, std::string_view word, const TextLines& lines) {
  const std::size_t colon = word.find(':');
  Index index = 0;
  const auto [end, code] =
      std::from_chars(word.data(), word.data() + std::min(colon, word.size()), index);
  const auto value =
      colon == std::string_view::npos ? std::nullopt : number_in(word.substr(colon + 1));
  if (code != std::errc{} || colon == std::string_view::npos || end != word.data() + colon ||
      !value || !std::isfinite(*value) || std::abs(*value) > 1e100)
    throw Error(Fault::data, lines.place(), shown(word) + " is not index:value",
                "write for example 3:0.5");
  if (!row.index.empty() && index <= row.index.back())
    throw Error(
        Fault::data, lines.place(),
        "feature " + std::to_string(index) + " comes after " + std::to_string(row.index.back()),
        "write the features of a row in increasing order");
  if (index == UINT32_MAX)
    throw Error(Fault::data, lines.place(), "the index " + std::string(word) + " is too large",
                "number the features from 1");
  row.index.push_back(index);
  row.value.push_back(*value);
}

FeatureRow feature_row(const TextLines& lines, RowLabel label) {
  FeatureRow row;
  std::string_view line = lines.line();
  if (const std::size_t mark = line.find('#'); mark != std::string_view::npos) {
    row.comment = trimmed(line.substr(mark + 1));
    line = line.substr(0, mark);
  }
  bool first = true;
  for (const std::string_view word : TextLines::words_of_line(line)) {
    if (std::exchange(first, false) &&
        (label == RowLabel::required || word.find(':') == std::string_view::npos)) {
      row.label = word;
      continue;
    }
    if (word.starts_with("qid:") && row.index.empty() && row.qid.empty()) {
      row.qid = word.substr(4);
      continue;
    }
    append_feature(row, word, lines);
  }
  return row;
}

FeatureRows::FeatureRows(const Vocabulary* known) : fixed_(known != nullptr) {
  std::size_t columns = 0;
  if (fixed_) {
    const auto& words = words_of(*known, "columns");
    const auto number = words.empty() ? std::nullopt : number_in(words[0]);
    if (!number || !(*number >= 0) || *number > UINT32_MAX)
      throw Error(Fault::data, "the model's number of features is damaged", "train it again");
    columns = static_cast<std::size_t>(*number);
  }
  x_ = Features::sparse(columns);
}

void FeatureRows::append(const FeatureRow& row) {
  std::vector<Index> index;
  std::vector<double> values;
  for (std::size_t k = 0; k < row.index.size(); ++k) {
    if (row.value[k] == 0 || (fixed_ && row.index[k] >= x_.columns())) continue;
    index.push_back(row.index[k]);
    values.push_back(row.value[k]);
  }
  if (!fixed_ && !index.empty() && index.back() >= x_.columns())
    x_.widen(static_cast<std::size_t>(index.back()) + 1);
  x_.append(index, values);
}

std::pair<std::string, std::vector<std::string>> columns_word(const Rows& rows) {
  return {"columns", {std::to_string(rows.columns)}};
}

}  // namespace maxmargin
