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
  return placed(rows, none_like(rows, rows.columns > 0 ? rows.columns - 1 : 0),
                [](std::size_t, Index feature, double) {
                  return feature == 0 ? std::nullopt : std::optional(feature - 1);
                });
}

}  // namespace maxmargin
