#include "maxmargin/data/renumbering.hpp"

#include <algorithm>

#include "maxmargin/data/like.hpp"

namespace maxmargin {
namespace {

// Packed matrices take some bytes for each column: up to this many, gaps cost next to nothing.
constexpr std::uint64_t few_columns = std::uint64_t{1} << 20;

std::vector<Index> features_of(const Rows& rows) {
  std::vector<Index> features;
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double) { features.push_back(feature); });
  std::ranges::sort(features);
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

}  // namespace

bool has_gaps(const Rows& rows) {
  return rows.sparse() && rows.columns > 2 * rows.stored() + few_columns;
}

Renumbering::Renumbering(const Rows& rows) : closes_(has_gaps(rows)) {
  if (closes_) known_ = features_of(rows);
}

Features Renumbering::applied(const Rows& rows) const {
  std::vector<Index> others;
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index feature, double) {
      if (!std::ranges::binary_search(known_, feature)) others.push_back(feature);
    });
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  const auto number_in = [](const std::vector<Index>& list, Index feature) {
    return static_cast<Index>(std::ranges::lower_bound(list, feature) - list.begin());
  };
  Features result = Features::sparse(known_.size() + others.size());
  std::vector<Index> features, behind;
  std::vector<double> values, values_behind;
  for (std::size_t i = 0; i < rows.count; ++i) {
    features.clear();
    values.clear();
    behind.clear();
    values_behind.clear();
    rows.for_each(i, [&](Index feature, double value) {
      const Index number = number_in(known_, feature);
      if (number < known_.size() && known_[number] == feature) {
        features.push_back(number);
        values.push_back(value);
      } else {
        behind.push_back(static_cast<Index>(known_.size()) + number_in(others, feature));
        values_behind.push_back(value);
      }
    });
    features.insert(features.end(), behind.begin(), behind.end());
    values.insert(values.end(), values_behind.begin(), values_behind.end());
    result.append(features, values);
  }
  result.fit();
  return result;
}

Features Renumbering::undone(const Rows& rows, std::size_t columns) const {
  return placed(rows, Features::sparse(columns),
                [&](std::size_t, Index feature, double) { return std::optional(known_[feature]); });
}

}  // namespace maxmargin
