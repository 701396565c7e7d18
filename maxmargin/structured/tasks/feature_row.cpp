#include "maxmargin/structured/tasks/feature_row.hpp"

#include <charconv>
#include <cmath>

#include "maxmargin/data/readers/number.hpp"

namespace maxmargin {

FeatureRow feature_row(const TextLines& lines) {
  FeatureRow row;
  std::string_view line = lines.line();
  if (const std::size_t mark = line.find('#'); mark != std::string_view::npos) {
    row.comment = trimmed(line.substr(mark + 1));
    line = line.substr(0, mark);
  }
  for (const std::string_view word : TextLines::words_of_line(line)) {
    if (row.label.empty()) {
      row.label = word;
      continue;
    }
    if (word.starts_with("qid:") && row.index.empty() && row.qid.empty()) {
      row.qid = word.substr(4);
      continue;
    }
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
  return row;
}

}  // namespace maxmargin
