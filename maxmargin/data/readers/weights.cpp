#include "maxmargin/data/readers/weights.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/formats/number.hpp"

namespace maxmargin {

WeightFile::WeightFile(const std::string& path)
    : source_(open_source(path)), blocks_(*source_, Records::lines, std::size_t{1} << 18) {}

std::string_view WeightFile::line() {
  while (true) {
    if (rest_.empty()) {
      if (!blocks_.next()) return {};
      rest_ = blocks_.text();
      blocks_.load();
    }
    const std::size_t end = rest_.find('\n');
    std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    ++line_;
    text = text.substr(0, text.find('#'));
    if (text.ends_with('\r')) text.remove_suffix(1);
    column_ = std::min(text.find_first_not_of(" \t"), text.size()) + 1;
    text = trimmed(text);
    if (!text.empty()) return text;
  }
}

double WeightFile::weight(std::string_view text, std::size_t column) const {
  const auto weight = number_in(text);
  if (!weight || !std::isfinite(*weight) || *weight < 0)
    throw Error(Fault::data, {source_->name(), line_, column}, shown(text) + " is not a weight",
                "weights are finite numbers of 0 or more");
  return *weight;
}

void WeightFile::give(Dataset& data) {
  data.weight.clear();
  data.weight_over.clear();
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const std::string_view text = line();
    if (text.empty())
      throw Error(Fault::data, {source_->name(), line_, 0},
                  "has " + std::to_string(given_) + " weights, fewer than the data has rows",
                  "write one weight per line, one line per row");
    const std::size_t gap = text.find_first_of(" \t,");
    const bool two = gap != text.npos;
    if (given_ == 0) two_ = two;
    if (two != two_)
      throw Error(Fault::data, {source_->name(), line_, column_},
                  two ? "has two weights, and the lines before have one"
                      : "has one weight, and the lines before have two",
                  "write one weight on every line, or two on every line");
    data.weight.push_back(weight(text.substr(0, gap), column_));
    if (two) {
      const std::size_t second = std::min(text.find_first_not_of(" \t", gap + 1), text.size());
      data.weight_over.push_back(weight(text.substr(second), column_ + second));
    }
    ++given_;
  }
}

void WeightFile::end() {
  if (!line().empty())
    throw Error(Fault::data, {source_->name(), line_, column_},
                "has more weights than the data has rows (" + std::to_string(given_) + ")",
                "write one weight per line, one line per row");
}

}  // namespace maxmargin
