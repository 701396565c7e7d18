#include "maxmargin/data/describe.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/data/columns.hpp"
#include "maxmargin/data/equal_rows.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t most_classes = 1000;

bool empty_row(const Rows& rows, std::size_t i) {
  bool empty = true;
  rows.for_each(i, [&](Index, double value) { empty &= value == 0; });
  return empty;
}

/// Counts repeated rows, and rows whose features also occur with another label.
void describe_repeated_rows(const Dataset& data, const Rows& rows, Description& told) {
  const std::vector<Index> first = first_equal_rows(rows);
  std::vector<std::pair<Index, double>> group(rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) {
    group[i] = {first[i], data.labelled() ? data.y[i] : 0};
    told.empty_rows += empty_row(rows, i);
  }
  std::sort(group.begin(), group.end());
  for (std::size_t begin = 0, end = 0; begin < group.size(); begin = end) {
    std::size_t labels = 1;
    for (end = begin + 1; end < group.size() && group[end].first == group[begin].first; ++end)
      labels += group[end].second != group[end - 1].second;
    told.duplicate_rows += end - begin - labels;
    if (labels > 1) told.contradictory_rows += end - begin;
  }
}

void describe_labels(const Dataset& data, Description& told) {
  told.labelled = data.labelled();
  told.numeric_labels = told.labelled && data.words.empty();
  if (!told.labelled) return;
  const Classes classes = classes_of(data);
  if (classes.values.size() <= most_classes) {
    for (const std::string& name : classes.names) told.classes.emplace_back(name, 0);
    for (const Index k : classes.of_row) ++told.classes[k].second;
  }
  if (!told.numeric_labels) return;
  told.label_low = classes.values.front();
  told.label_high = classes.values.back();
  const double share = 1 / static_cast<double>(data.y.size());
  for (const double label : data.y) told.label_mean += label * share;
  double squares = 0;
  for (const double label : data.y)
    squares += (label - told.label_mean) * (label - told.label_mean) * share;
  told.label_deviation = std::sqrt(squares);
}

void describe_scales(const Rows& rows, Description& told) {
  const Columns columns = describe_columns(rows);
  told.nonzeros = columns.nonzeros;
  if (rows.sparse()) told.absent_features = rows.columns - columns.size();
  bool first = true;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (columns.constant(k)) {
      told.constant_features.push_back(columns.feature[k]);
      continue;
    }
    const double scale = columns.deviation[k];
    if (first || scale < told.smallest_scale) {
      told.smallest_scale = scale;
      told.smallest_scale_feature = columns.feature[k];
    }
    if (first || scale > told.largest_scale) {
      told.largest_scale = scale;
      told.largest_scale_feature = columns.feature[k];
    }
    first = false;
  }
}

std::string plural(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// Writes the sentences of Description::advice.
class Adviser {
 public:
  Adviser(const Dataset& data, Description& told) : data_(data), told_(told) {}

  void run() {
    labels();
    columns();
    if (told_.contradictory_rows > 0)
      say(plural(told_.contradictory_rows, "row") +
          " have the same features as another row but another label: check the labels, no machine "
          "can get all of them right");
    if (told_.empty_rows > 0)
      say(plural(told_.empty_rows, "row") + (told_.empty_rows == 1 ? " has" : " have") +
          " no feature other than zero: check that nothing was lost");
  }

 private:
  void say(std::string sentence) { told_.advice.push_back(std::move(sentence)); }

  std::string feature(Index number) const {
    const std::string text = "feature " + std::to_string(std::size_t{number} + 1);
    return number < data_.feature_names.size() ? text + ", " + data_.feature_names[number] : text;
  }

  void labels() {
    if (!told_.labelled) return say("there are no labels: only one-class training is possible");
    if (told_.classes.size() == 1)
      say("only one class (" + told_.classes[0].first +
          "): classification needs two, use one-class training or check the label column");
    if (!told_.numeric_labels && 2 * told_.classes.size() > told_.rows && told_.rows > 10)
      say("most labels occur only once: check that the label column is the right one");
    else if (told_.classes.size() > 1 && 2 * told_.classes.size() < told_.rows)
      for (const auto& [name, rows] : told_.classes)
        if (rows == 1) say("class " + name + " has only 1 row: add rows of it or remove it");
  }

  void columns() {
    // Rare features of sparse data deviate little whatever their scale is.
    const double much = told_.density < 0.1 ? 1e4 : 100;
    if (told_.smallest_scale > 0 && told_.largest_scale / told_.smallest_scale >= much)
      say("columns differ in scale by 10^" +
          std::to_string(
              std::lround(std::log10(told_.largest_scale) - std::log10(told_.smallest_scale))) +
          " (" + feature(told_.largest_scale_feature) + " against " +
          feature(told_.smallest_scale_feature) + "): train with --scale");
    constexpr std::size_t most = 5;
    const auto& constant = told_.constant_features;
    std::string list;
    for (std::size_t k = 0; k < std::min(most, constant.size()); ++k)
      list += (k == 0 ? " (" : "; ") + feature(constant[k]);
    if (constant.size() > most) list += "; ...";
    if (!constant.empty())
      say(plural(constant.size(), "column") + (constant.size() == 1 ? " is" : " are") +
          " constant" + list + "): remove " + (constant.size() == 1 ? "it" : "them") +
          ", nothing can be learned from " + (constant.size() == 1 ? "it" : "them"));
  }

  const Dataset& data_;
  Description& told_;
};

}  // namespace

Description describe(const Dataset& data) {
  Description told;
  const Rows rows = data.x.view();
  told.rows = rows.count;
  told.features = rows.columns;
  told.stored = rows.count > 0 ? rows.stored() : 0;
  told.sparse = rows.sparse();
  told.floats = rows.doubles == nullptr;
  if (rows.count == 0) return told;
  describe_labels(data, told);
  describe_scales(rows, told);
  if (rows.columns > 0)
    told.density = static_cast<double>(told.nonzeros) /
                   (static_cast<double>(rows.count) * static_cast<double>(rows.columns));
  describe_repeated_rows(data, rows, told);
  Adviser(data, told).run();
  return told;
}

}  // namespace maxmargin
