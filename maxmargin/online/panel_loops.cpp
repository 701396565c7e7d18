#include "maxmargin/online/panel_loops.hpp"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/online/panel_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 8 numbers: sizes are multiples of that.
using Doubles = hn::CappedTag<double, 8>;

/// `vectors` vectors of sums at a time stay in registers.
template <std::size_t vectors>
HWY_INLINE void sum_stretch(const double* const* rows, const double* times, std::size_t count,
                            std::size_t at, double* sums) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Doubles> sum[vectors];
  for (std::size_t v = 0; v < vectors; ++v) sum[v] = hn::Zero(d);
  for (std::size_t k = 0; k < count; ++k) {
    const auto factor = hn::Set(d, times[k]);
    const double* row = rows[k] + at;
    for (std::size_t v = 0; v < vectors; ++v)
      sum[v] = hn::Add(sum[v], hn::Mul(factor, hn::LoadU(d, row + v * lanes)));
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + at + v * lanes);
}

void panel_sums_loop(const double* const* rows, const double* times, std::size_t count,
                     std::size_t size, double* sums) {
  const std::size_t lanes = hn::Lanes(Doubles());
  std::size_t at = 0;
  for (; at + 8 * lanes <= size; at += 8 * lanes) sum_stretch<8>(rows, times, count, at, sums);
  for (; at < size; at += lanes) sum_stretch<1>(rows, times, count, at, sums);
}

bool distances_loop(double base, const double* bases, std::size_t size, double share, double* s) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto own = hn::Set(d, base), least = hn::Set(d, share), two = hn::Set(d, 2.0);
  bool small = false;
  for (std::size_t i = 0; i < size; i += lanes) {
    const auto both = hn::Add(own, hn::LoadU(d, bases + i));
    const auto distance = hn::Sub(both, hn::Mul(two, hn::LoadU(d, s + i)));
    small = small || !hn::AllFalse(d, hn::Lt(distance, hn::Mul(least, both)));
    hn::StoreU(distance, d, s + i);
  }
  return small;
}

void decay_loop(double rate, std::size_t size, double* s) {
  const Doubles d;
  const auto minus = hn::Set(d, -rate);
  for (std::size_t i = 0; i < size; i += hn::Lanes(d)) {
    const auto sum = hn::Max(hn::LoadU(d, s + i), hn::Zero(d));
    hn::StoreU(hn::Exp(d, hn::Mul(minus, sum)), d, s + i);
  }
}

void root_decay_loop(double rate, std::size_t size, double* s) {
  const Doubles d;
  const auto minus = hn::Set(d, -rate);
  for (std::size_t i = 0; i < size; i += hn::Lanes(d)) {
    const auto root = hn::Sqrt(hn::Max(hn::LoadU(d, s + i), hn::Zero(d)));
    hn::StoreU(hn::Exp(d, hn::Mul(minus, root)), d, s + i);
  }
}

double inner_product_loop(const double* x, const double* y, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

std::size_t smallest_product_loop(const double* x, const double* weight, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto none = hn::Set(d, std::numeric_limits<double>::infinity());
  auto least = none;
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto w = hn::LoadU(d, weight + i);
    const auto product = hn::Mul(hn::Abs(hn::LoadU(d, x + i)), w);
    least = hn::Min(least, hn::IfThenElse(hn::Gt(w, hn::Zero(d)), product, none));
  }
  double smallest = hn::GetLane(hn::MinOfLanes(d, least));
  for (; i < size; ++i)
    if (weight[i] > 0) smallest = std::fmin(smallest, std::abs(x[i]) * weight[i]);
  for (std::size_t k = 0; k < size; ++k)
    if (weight[k] > 0 && std::abs(x[k]) * weight[k] == smallest) return k;
  return size;
}

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(panel_sums_loop);
HWY_EXPORT(distances_loop);
HWY_EXPORT(decay_loop);
HWY_EXPORT(root_decay_loop);
HWY_EXPORT(inner_product_loop);
HWY_EXPORT(smallest_product_loop);

void panel_sums(std::span<const double* const> rows, std::span<const double> times,
                std::size_t size, double* sums) {
  HWY_DYNAMIC_DISPATCH(panel_sums_loop)(rows.data(), times.data(), rows.size(), size, sums);
}
bool distances(double base, const double* bases, std::size_t size, double share, double* s) {
  return HWY_DYNAMIC_DISPATCH(distances_loop)(base, bases, size, share, s);
}
void decay(double rate, std::size_t size, double* s) {
  HWY_DYNAMIC_DISPATCH(decay_loop)(rate, size, s);
}
void root_decay(double rate, std::size_t size, double* s) {
  HWY_DYNAMIC_DISPATCH(root_decay_loop)(rate, size, s);
}
double inner_product(const double* x, const double* y, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(inner_product_loop)(x, y, size);
}
std::size_t smallest_product(const double* x, const double* weight, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(smallest_product_loop)(x, weight, size);
}

}  // namespace maxmargin
#endif
