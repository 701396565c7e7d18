#pragma once

#include <optional>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// Nothing yet: rows that will be stored sparse or dense ...
inline Features no_rows(bool sparse, std::size_t columns) {
  return sparse ? Features::sparse(columns) : Features::dense(columns);
}
/// ... as those of another set are.
inline Features none_like(const Rows& rows, std::size_t columns) {
  return no_rows(rows.sparse(), columns);
}
inline Features none_like(const Rows& rows) { return none_like(rows, rows.columns); }
inline Features none_like(const Features& rows, std::size_t columns) {
  return no_rows(rows.is_sparse(), columns);
}
inline Features none_like(const Features& rows) { return none_like(rows, rows.columns()); }

/// Appends rows to `made` with their features numbered anew: `place(row, feature, value)` is the
/// new number, which increases with the old one, or nothing for a value that is left out.
template <class Place>
Features placed(const Rows& rows, Features made, Place&& place) {
  std::vector<Index> features;
  std::vector<double> values;
  for (std::size_t i = 0; i < rows.count; ++i) {
    features.clear();
    values.clear();
    rows.for_each(i, [&](Index feature, double value) {
      const std::optional<Index> at = place(i, feature, value);
      if (!at) return;
      features.push_back(*at);
      values.push_back(value);
    });
    made.append(features, values);
  }
  made.fit();
  return made;
}

}  // namespace maxmargin
