#include "maxmargin/linalg/double_rows.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/linalg/double_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace double_rows_loops {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls body(j) for vectors that cover [0, columns), the last of which may overlap the one before;
/// single(j) where a row is shorter than a vector.
template <class Body, class Single>
HWY_INLINE void cover(std::size_t columns, std::size_t lanes, const Body& body,
                      const Single& single) {
  if (columns < lanes) {
    for (std::size_t j = 0; j < columns; ++j) single(j);
    return;
  }
  std::size_t j = 0;
  for (; j + lanes <= columns; j += lanes) body(j);
  if (j < columns) body(columns - lanes);
}

void widen_all(const float* from, std::size_t columns, std::size_t count, std::size_t stride,
               double* to) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  for (std::size_t i = 0; i < count; ++i, from += columns, to += stride)
    cover(
        columns, hn::Lanes(d),
        [&](std::size_t j)
            HWY_ATTR { hn::StoreU(hn::PromoteTo(d, hn::LoadU(df, from + j)), d, to + j); },
        [&](std::size_t j) HWY_ATTR { to[j] = static_cast<double>(from[j]); });
}

std::size_t scale_all(const double* from, std::size_t columns, std::size_t count,
                      const double* factor, double* to) {
  const hn::ScalableTag<double> d;
  std::size_t written = 0;
  for (std::size_t i = 0; i < count; ++i, from += columns) {
    if (factor[i] == 0) continue;
    const auto times = hn::Set(d, factor[i]);
    cover(
        columns, hn::Lanes(d),
        [&](std::size_t j)
            HWY_ATTR { hn::StoreU(hn::Mul(times, hn::LoadU(d, from + j)), d, to + j); },
        [&](std::size_t j) HWY_ATTR { to[j] = factor[i] * from[j]; });
    to += columns;
    ++written;
  }
  return written;
}

double largest_sum(const double* rows, std::size_t columns, std::size_t count) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  double largest = 0;
  for (std::size_t i = 0; i < count; ++i, rows += columns) {
    auto sums = hn::Zero(d);
    std::size_t j = 0;
    for (; j + lanes <= columns; j += lanes) {
      const auto x = hn::LoadU(d, rows + j);
      sums = hn::MulAdd(x, x, sums);
    }
    double sum = hn::GetLane(hn::SumOfLanes(d, sums));
    for (; j < columns; ++j) sum += rows[j] * rows[j];
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace double_rows_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(widen_all);
HWY_EXPORT(scale_all);
HWY_EXPORT(largest_sum);

void widen_rows(const float* from, std::size_t columns, std::size_t count, std::size_t stride,
                double* to) {
  HWY_DYNAMIC_DISPATCH(widen_all)(from, columns, count, stride, to);
}
std::size_t scale_rows(const double* from, std::size_t columns, std::size_t count,
                       const double* factor, double* to) {
  return HWY_DYNAMIC_DISPATCH(scale_all)(from, columns, count, factor, to);
}
double largest_square(const double* rows, std::size_t columns, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(largest_sum)(rows, columns, count);
}

}  // namespace maxmargin
#endif
