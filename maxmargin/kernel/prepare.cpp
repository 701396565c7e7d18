#include "maxmargin/kernel/prepare.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

namespace maxmargin {
namespace {

Extent extent_of_some(const Summation& summation, const Rows& rows, std::size_t begin,
                      std::size_t end) {
  Extent extent;
  for (std::size_t i = begin; i < end; ++i) {
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

bool are_whole(const Summation& summation, const Rows& rows, std::size_t begin, std::size_t end,
               double unit, double slack) {
  bool whole = true;
  double units = 0;
  for (std::size_t i = begin; i < end && whole; ++i)
    rows.for_each(i, [&](Index, double raw) {
      if (whole && raw != 0) whole = whole_units(summation.value(raw), unit, slack, units);
    });
  return whole;
}

}  // namespace

Extent extent_of(const Summation& summation, const Rows& rows, const Threads& threads) {
  std::vector<Extent> parts((rows.count + rows_a_look - 1) / rows_a_look);
  threads.split(rows.count, rows_a_look, [&](std::size_t begin, std::size_t end) {
    parts[begin / rows_a_look] = extent_of_some(summation, rows, begin, end);
  });
  Extent whole;
  for (const Extent& part : parts) {
    if (part.nonzeros == 0) continue;
    whole.smallest = whole.nonzeros == 0 ? part.smallest : std::min(whole.smallest, part.smallest);
    whole.largest = std::max(whole.largest, part.largest);
    whole.norm = std::max(whole.norm, part.norm);
    whole.alone = std::max(whole.alone, part.alone);
    whole.negative = whole.negative || part.negative;
    whole.nonzeros += part.nonzeros;
  }
  return whole;
}

double common_unit(const Summation& summation, const Rows& rows, const Extent& extent, double slack,
                   const Threads& threads) {
  if (extent.nonzeros == 0) return 1;
  // Deviations count little only where they are of both signs: a unit without any comes first.
  for (const double deviation : {0.0, slack})
    for (const double unit : {1.0, 1.0 / 255, extent.smallest}) {
      if (extent.largest / unit > 32767) continue;
      std::atomic<bool> whole{true};
      threads.split(rows.count, rows_a_look, [&](std::size_t begin, std::size_t end) {
        if (whole && !are_whole(summation, rows, begin, end, unit, deviation)) whole = false;
      });
      if (whole) return unit;
    }
  return 0;
}

}  // namespace maxmargin
