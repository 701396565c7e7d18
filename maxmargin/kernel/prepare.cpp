#include "maxmargin/kernel/prepare.hpp"

#include <algorithm>

namespace maxmargin {

Extent extent_of(const Summation& summation, const Rows& rows) {
  Extent extent;
  for (std::size_t i = 0; i < rows.count; ++i) {
    double norm = 0, alone = 0;
    rows.for_each(i, [&](Index, double raw) {
      if (raw == 0) return;
      const double value = std::abs(summation.value(raw));
      extent.negative = extent.negative || raw < 0;
      norm += value * value;
      alone += summation.alone(value);
      extent.smallest = extent.nonzeros == 0 ? value : std::min(extent.smallest, value);
      extent.largest = std::max(extent.largest, value);
      ++extent.nonzeros;
    });
    extent.norm = std::max(extent.norm, norm);
    extent.alone = std::max(extent.alone, alone);
  }
  return extent;
}

double common_unit(const Summation& summation, const Rows& rows, const Extent& extent,
                   double slack) {
  if (extent.nonzeros == 0) return 1;
  for (const double unit : {1.0, 1.0 / 255, extent.smallest}) {
    if (extent.largest / unit > 32767) continue;
    bool whole = true;
    double units = 0;
    for (std::size_t i = 0; i < rows.count && whole; ++i)
      rows.for_each(i, [&](Index, double raw) {
        if (whole && raw != 0) whole = whole_units(summation.value(raw), unit, slack, units);
      });
    if (whole) return unit;
  }
  return 0;
}

}  // namespace maxmargin
