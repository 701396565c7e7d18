#include "maxmargin/solver/scan.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace scan_loops {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class D>
HWY_INLINE void scan_some(D d, const VariableArrays& a, std::size_t v, double* growing,
                          double* falling) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::int32_t, D> d32;
  // Points are fewer than 2^31.
  const auto points =
      hn::PromoteTo(di, hn::LoadU(d32, reinterpret_cast<const std::int32_t*>(a.point + v)));
  const auto beta = hn::LoadU(d, a.beta + v);
  const auto slope = hn::MulAdd(hn::LoadU(d, a.curvature + v), beta, hn::LoadU(d, a.linear + v));
  const auto negative_gradient = hn::Neg(hn::Add(hn::GatherIndex(d, a.f, points), slope));
  const auto can_grow = hn::Lt(beta, hn::LoadU(d, a.upper + v));
  const auto can_fall = hn::Gt(beta, hn::LoadU(d, a.lower + v));
  hn::StoreU(hn::IfThenElse(can_grow, negative_gradient, hn::Set(d, -infinity)), d, growing + v);
  hn::StoreU(hn::IfThenElse(can_fall, negative_gradient, hn::Set(d, infinity)), d, falling + v);
}

void gradient(const VariableArrays& a, std::size_t begin, std::size_t end, double* growing,
              double* falling) {
  const hn::ScalableTag<double> d;
  std::size_t v = begin;
  for (; v + hn::Lanes(d) <= end; v += hn::Lanes(d)) scan_some(d, a, v, growing, falling);
  for (; v < end; ++v) scan_some(hn::CappedTag<double, 1>(), a, v, growing, falling);
}

double extreme(const double* x, std::size_t count, double sign) {
  const hn::ScalableTag<double> d;
  const auto factor = hn::Set(d, sign);
  auto best = hn::Set(d, -infinity), other = best;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    best = hn::Max(best, hn::Mul(factor, hn::LoadU(d, x + i)));
    other = hn::Max(other, hn::Mul(factor, hn::LoadU(d, x + i + lanes)));
  }
  double result = hn::GetLane(hn::MaxOfLanes(d, hn::Max(best, other)));
  for (; i < count; ++i) result = std::max(result, sign * x[i]);
  return sign * result;
}

/// Where sign * x >= sign * bound.
void find(const double* x, std::size_t begin, std::size_t count, double bound, double sign,
          std::vector<Index>& found) {
  const hn::ScalableTag<double> d;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, sign), least = hn::Set(d, sign * bound);
  const auto is_found = [&](std::size_t i) {
    return hn::Ge(hn::Mul(factor, hn::LoadU(d, x + i)), least);
  };
  std::int64_t positions[hn::MaxLanes(d)];
  const auto note = [&](std::size_t i, auto mask) {
    const auto numbers = hn::Iota(di, static_cast<std::int64_t>(i));
    const std::size_t some = hn::CompressStore(numbers, hn::RebindMask(di, mask), di, positions);
    for (std::size_t k = 0; k < some; ++k) found.push_back(static_cast<Index>(positions[k]));
  };
  std::size_t i = begin;
  const std::size_t end = begin + count;
  for (; i + 2 * lanes <= end; i += 2 * lanes) {
    const auto first = is_found(i), second = is_found(i + lanes);
    // Mostly none is found.
    if (hn::AllFalse(d, hn::Or(first, second))) continue;
    note(i, first);
    note(i + lanes, second);
  }
  for (; i < end; ++i)
    if (sign * x[i] >= sign * bound) found.push_back(static_cast<Index>(i));
}

}  // namespace scan_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(gradient);
HWY_EXPORT(extreme);
HWY_EXPORT(find);

void scan_gradient(const VariableArrays& variables, std::size_t begin, std::size_t end,
                   double* growing, double* falling) {
  HWY_DYNAMIC_DISPATCH(gradient)(variables, begin, end, growing, falling);
}
double largest(const double* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(extreme)(x, count, 1);
}
double smallest(const double* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(extreme)(x, count, -1);
}
void find_at_least(const double* x, std::size_t begin, std::size_t count, double bound,
                   std::vector<Index>& found) {
  HWY_DYNAMIC_DISPATCH(find)(x, begin, count, bound, 1, found);
}
void find_at_most(const double* x, std::size_t begin, std::size_t count, double bound,
                  std::vector<Index>& found) {
  HWY_DYNAMIC_DISPATCH(find)(x, begin, count, bound, -1, found);
}

}  // namespace maxmargin
#endif
