#include "maxmargin/data/dataset.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/content_hash.hpp"

namespace maxmargin {
namespace {

/// The words of a data set that occur as labels, in bytewise order.
std::vector<double> used_words(const Dataset& data) {
  std::vector<char> used(data.words.size(), 0);
  for (const double label : data.y) {
    if (!(label >= 0 && label < static_cast<double>(data.words.size())))
      throw Error(Fault::usage, "a label is no position in the list of words",
                  "number words from 0");
    used[static_cast<std::size_t>(label)] = 1;
  }
  std::vector<double> values;
  for (std::size_t k = 0; k < used.size(); ++k)
    if (used[k] != 0) values.push_back(static_cast<double>(k));
  std::sort(values.begin(), values.end(), [&](double a, double b) {
    return data.words[static_cast<std::size_t>(a)] < data.words[static_cast<std::size_t>(b)];
  });
  return values;
}

std::vector<double> used_numbers(const Dataset& data) {
  std::vector<double> values;
  const auto merge = [&] {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  // Most data has few classes: removing duplicates now and then avoids sorting all rows.
  std::size_t most = 4096;
  for (const double label : data.y) {
    if (!std::isfinite(label))
      throw Error(Fault::data, "a label is not a finite number",
                  "remove the row or mend its label");
    if (values.empty() || values.back() != label) values.push_back(label + 0.0);
    if (values.size() < most) continue;
    merge();
    most = std::max(most, 2 * values.size());
  }
  merge();
  return values;
}

}  // namespace

Classes classes_of(const Dataset& data) {
  Classes classes;
  const bool wordy = !data.words.empty();
  classes.values = wordy ? used_words(data) : used_numbers(data);
  for (const double value : classes.values)
    classes.names.push_back(wordy ? data.words[static_cast<std::size_t>(value)] : shortest(value));
  classes.of_row.resize(data.y.size());
  if (wordy) {
    std::vector<Index> rank(data.words.size(), 0);
    for (std::size_t k = 0; k < classes.values.size(); ++k)
      rank[static_cast<std::size_t>(classes.values[k])] = static_cast<Index>(k);
    for (std::size_t i = 0; i < data.y.size(); ++i)
      classes.of_row[i] = rank[static_cast<std::size_t>(data.y[i])];
  } else {
    for (std::size_t i = 0; i < data.y.size(); ++i)
      classes.of_row[i] = static_cast<Index>(
          std::lower_bound(classes.values.begin(), classes.values.end(), data.y[i]) -
          classes.values.begin());
  }
  return classes;
}

std::string content_hash(const Dataset& data) {
  ContentHash hash(data.rows());
  hash.add(data.x.view());
  using Labels = ContentHash::Labels;
  hash.begin_labels(data.y.empty()       ? Labels::none
                    : data.words.empty() ? Labels::numbers
                                         : Labels::words);
  for (const double label : data.y) {
    if (data.words.empty())
      hash.add_number(label);
    else
      hash.add_word(data.words.at(static_cast<std::size_t>(label)));
  }
  const bool weighted = std::any_of(data.weight.begin(), data.weight.end(),
                                    [](double weight) { return weight != 1; });
  hash.begin_weights(weighted);
  for (const double weight : data.weight)
    if (weighted) hash.add_number(weight);
  for (const double weight : data.weight_over) hash.add_number(weight);
  return hash.text();
}

}  // namespace maxmargin
