#include "maxmargin/kernel/engine/panel/prepare.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "maxmargin/kernel/engine/dense_values.hpp"

namespace maxmargin {
namespace {

Extent extent_of_some(const Summation& summation, const Rows& rows, std::size_t begin,
                      std::size_t end) {
  Extent extent;
  const bool is_product = summation.is_product();
  double smallest = std::numeric_limits<double>::infinity(), largest = 0, lowest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const auto add = [&](std::size_t, const auto* values, std::size_t count) {
      const DenseExtent row = dense_extent(values, count);
      smallest = std::min(smallest, row.smallest);
      largest = std::max(largest, row.largest);
      lowest = std::min(lowest, row.lowest);
      extent.nonzeros += row.nonzeros;
      extent.longest = std::max(extent.longest, row.nonzeros);
      extent.norm = std::max(extent.norm, row.norm);
    };
    if (is_product && !summation.roots && visit_without_gaps(rows, i, add)) continue;
    double norm = 0, alone = 0;
    std::uint64_t nonzeros = 0;
    rows.for_each(i, [&](Index, double raw) {
      const double value = std::abs(summation.value(raw));
      norm += value * value;
      if (!is_product) alone += summation.alone(value);
      smallest = std::min(smallest, value > 0 ? value : smallest);
      largest = std::max(largest, value);
      lowest = std::min(lowest, raw);
      nonzeros += value > 0;
    });
    extent.nonzeros += nonzeros;
    extent.longest = std::max<std::size_t>(extent.longest, nonzeros);
    extent.norm = std::max(extent.norm, norm);
    extent.alone = std::max(extent.alone, alone);
  }
  extent.smallest = extent.nonzeros > 0 ? smallest : 0;
  extent.largest = largest;
  extent.negative = lowest < 0;
  return extent;
}

bool are_whole(const Summation& summation, const Rows& rows, std::size_t begin, std::size_t end,
               const Unit& unit) {
  bool whole = true;
  double units = 0;
  for (std::size_t i = begin; i < end && whole; ++i) {
    const auto look = [&](std::size_t, const auto* values, std::size_t count) {
      whole = whole_numbers(values, count, unit, nullptr).fit;
    };
    if (!summation.roots && visit_without_gaps(rows, i, look)) continue;
    rows.for_each(
        i, [&](Index, double raw) { whole = unit.divides(summation.value(raw), units) && whole; });
  }
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
    whole.longest = std::max(whole.longest, part.longest);
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
      if (extent.largest / unit > Unit::most) continue;
      std::atomic<bool> whole{true};
      threads.split(rows.count, rows_a_look, [&](std::size_t begin, std::size_t end) {
        if (whole && !are_whole(summation, rows, begin, end, Unit(unit, deviation))) whole = false;
      });
      if (whole) return unit;
    }
  return 0;
}

double unit_deviation(const Summation& summation, const Rows& rows, double unit,
                      const Threads& threads) {
  std::vector<double> parts((rows.count + rows_a_look - 1) / rows_a_look, 0.0);
  const double inverse = 1 / unit;
  threads.split(rows.count, rows_a_look, [&](std::size_t begin, std::size_t end) {
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      double squares = 0;
      rows.for_each(i, [&](Index, double raw) {
        const double value = summation.value(raw);
        const double rest = std::fma(-std::nearbyint(value * inverse), unit, value);
        squares += rest * rest;
      });
      largest = std::max(largest, squares);
    }
    parts[begin / rows_a_look] = largest;
  });
  double largest = 0;
  for (const double part : parts) largest = std::max(largest, part);
  return std::sqrt(largest) * (1 + 1e-9);
}

}  // namespace maxmargin
