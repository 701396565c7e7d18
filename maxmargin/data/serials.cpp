#include "maxmargin/data/serials.hpp"

#include "maxmargin/data/like.hpp"

namespace maxmargin {

std::optional<std::size_t> row_without_serial(const Rows& rows) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    double first = 0;
    rows.for_each(i, [&](Index feature, double value) {
      if (feature == 0) first = value;
    });
    if (first != static_cast<double>(i + 1)) return i;
  }
  return std::nullopt;
}

Features without_serials(const Rows& rows) {
  Features rest = none_like(rows, rows.columns > 0 ? rows.columns - 1 : 0);
  std::vector<Index> features;
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    features.clear();
    values.clear();
    rows.for_each(i, [&](Index feature, double value) {
      if (feature == 0) return;
      features.push_back(feature - 1);
      values.push_back(value);
    });
    rest.append(features, values);
  }
  rest.fit();
  return rest;
}

}  // namespace maxmargin
