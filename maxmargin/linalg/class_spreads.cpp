#include "maxmargin/linalg/class_spreads.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/linalg/class_spreads.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace class_spreads_loops {
namespace hn = hwy::HWY_NAMESPACE;

std::size_t add_and_spread_loop(const ClassColumns& columns, const float* row, const double* by,
                                double* spread) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> of_floats;
  const auto& [g, bar, stride, classes, count] = columns;
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const std::size_t lanes = hn::Lanes(d);
  auto most = hn::Set(d, -infinite);
  std::size_t c = 0;
  for (; c + lanes <= count; c += lanes) {
    auto largest = hn::Set(d, -infinite), lowest = hn::Set(d, infinite);
    const auto values =
        row == nullptr ? hn::Zero(d) : hn::PromoteTo(d, hn::LoadU(of_floats, row + c));
    for (std::size_t k = 0; k < classes; ++k) {
      double* at = g + k * stride + c;
      auto value = hn::LoadU(d, at);
      if (row != nullptr && by[k] != 0) {
        value = hn::Add(value, hn::Mul(hn::Set(d, by[k]), values));
        hn::StoreU(value, d, at);
      }
      largest = hn::Max(largest, value);
      lowest = hn::Min(lowest, hn::Add(value, hn::LoadU(d, bar + k * stride + c)));
    }
    const auto difference = hn::Sub(largest, lowest);
    hn::StoreU(difference, d, spread + c);
    most = hn::Max(most, difference);
  }
  double worst = count >= lanes ? hn::GetLane(hn::MaxOfLanes(d, most)) : -infinite;
  for (; c < count; ++c) {
    double largest = -infinite, lowest = infinite;
    for (std::size_t k = 0; k < classes; ++k) {
      double& value = g[k * stride + c];
      if (row != nullptr && by[k] != 0) value += by[k] * static_cast<double>(row[c]);
      largest = std::max(largest, value);
      lowest = std::min(lowest, value + bar[k * stride + c]);
    }
    spread[c] = largest - lowest;
    worst = std::max(worst, spread[c]);
  }
  return static_cast<std::size_t>(std::find(spread, spread + count, worst) - spread);
}

}  // namespace class_spreads_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_and_spread_loop);

std::size_t add_and_spread(const ClassColumns& columns, const float* row, const double* by,
                           double* spread) {
  return HWY_DYNAMIC_DISPATCH(add_and_spread_loop)(columns, row, by, spread);
}

}  // namespace maxmargin
#endif
