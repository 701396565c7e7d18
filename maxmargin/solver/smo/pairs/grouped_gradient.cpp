#include "maxmargin/solver/smo/pairs/grouped_gradient.hpp"

#include <algorithm>
#include <limits>

#include "maxmargin/loss/block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/smo/pairs/grouped_gradient.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef MAXMARGIN_SOLVER_SMO_GROUPED_GRADIENT_ONCE
#define MAXMARGIN_SOLVER_SMO_GROUPED_GRADIENT_ONCE
namespace maxmargin {

/// What the loops below work on.
struct GradientArrays {
  double* negative_gradient;
  const double *growth, *fall;
  float* low;
  double *highest, *lowest;
};

constexpr std::size_t gradient_group = GroupedGradient::group_points;

}  // namespace maxmargin
#endif

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace grouped_gradient_loops {
namespace hn = hwy::HWY_NAMESPACE;

// Two equal points have no curvature between them.
constexpr float least_curvature = 1e-12f;

using D = hn::CappedTag<double, 8>;

void measure(const GradientArrays& a, std::size_t group) {
  const D d;
  const hn::Rebind<float, D> df;
  auto high = hn::Set(d, -infinity), low = hn::Set(d, infinity);
  const std::size_t begin = group * gradient_group;
  for (std::size_t p = begin; p < begin + gradient_group; p += hn::Lanes(d)) {
    const auto negative_gradient = hn::Load(d, a.negative_gradient + p);
    const auto down = hn::Add(negative_gradient, hn::Load(d, a.fall + p));
    high = hn::Max(high, hn::Add(negative_gradient, hn::Load(d, a.growth + p)));
    low = hn::Min(low, down);
    hn::Store(hn::DemoteTo(df, down), df, a.low + p);
  }
  a.highest[group] = hn::GetLane(hn::MaxOfLanes(d, high));
  a.lowest[group] = hn::GetLane(hn::MinOfLanes(d, low));
}

void move(const GradientArrays& a, const BlockRow& row, double step) {
  const D d;
  const hn::Rebind<float, D> df;
  const auto by = hn::Set(d, step);
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t touched = none;
  for (std::size_t k = 0; k < row.blocks.size(); ++k) {
    const std::size_t begin = block_columns * row.blocks[k];
    const float* values = row.values + block_columns * k;
    if (const std::size_t group = begin / gradient_group; group != touched) {
      if (touched != none) measure(a, touched);
      touched = group;
    }
    for (std::size_t i = 0; i < block_columns; i += hn::Lanes(d)) {
      const auto value = hn::PromoteTo(d, hn::LoadU(df, values + i));
      hn::Store(hn::NegMulAdd(by, value, hn::Load(d, a.negative_gradient + begin + i)), d,
                a.negative_gradient + begin + i);
    }
  }
  if (touched != none) measure(a, touched);
}

/// The largest of sign * x, the first of equals.
std::size_t extreme_group(const double* x, std::size_t count, double sign) {
  const D d;
  const auto factor = hn::Set(d, sign);
  auto best = hn::Set(d, -infinity);
  for (std::size_t g = 0; g < count; g += hn::Lanes(d))
    best = hn::Max(best, hn::Mul(factor, hn::Load(d, x + g)));
  const auto largest = hn::Mul(factor, hn::MaxOfLanes(d, best));
  for (std::size_t g = 0; g < count; g += hn::Lanes(d)) {
    const auto found = hn::FindFirstTrue(d, hn::Eq(hn::Load(d, x + g), largest));
    if (found >= 0) return g + static_cast<std::size_t>(found);
  }
  return 0;
}

/// The first point of a group where negative gradient + offset is `value`.
std::size_t find_in_group(const double* negative_gradient, const double* offset, std::size_t group,
                          double value) {
  const D d;
  const auto wanted = hn::Set(d, value);
  const std::size_t begin = group * gradient_group;
  for (std::size_t p = begin; p < begin + gradient_group; p += hn::Lanes(d)) {
    const auto sum = hn::Add(hn::Load(d, negative_gradient + p), hn::Load(d, offset + p));
    const auto found = hn::FindFirstTrue(d, hn::Eq(sum, wanted));
    if (found >= 0) return p + static_cast<std::size_t>(found);
  }
  return begin;
}

/// As in inner.cpp, in float: fractions are compared by cross-multiplication.
GroupedGradient::Partner best_partner(const float* low, const float* diagonals, const BlockRow& row,
                                      float negative_gradient, float diagonal) {
  const hn::CappedTag<float, block_columns> d;
  const hn::RebindToSigned<decltype(d)> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto from = hn::Set(d, negative_gradient), own = hn::Set(d, diagonal), zero = hn::Zero(d);
  const auto least = hn::Set(d, least_curvature), two = hn::Set(d, 2.0f);
  auto best_top = zero, best_bottom = hn::Set(d, 1.0f);
  auto best_at = hn::Set(di, -1);
  for (std::size_t k = 0; k < row.blocks.size(); ++k) {
    const std::size_t begin = block_columns * row.blocks[k];
    const float* values = row.values + block_columns * k;
    for (std::size_t i = 0; i < block_columns; i += lanes) {
      // Points that cannot fall have plus infinity, and so a negative difference.
      const auto b = hn::Max(hn::Sub(from, hn::Load(d, low + begin + i)), zero);
      const auto sum = hn::Add(own, hn::Load(d, diagonals + begin + i));
      const auto bottom = hn::Max(hn::NegMulAdd(two, hn::LoadU(d, values + i), sum), least);
      const auto top = hn::Mul(b, b);
      const auto better = hn::Gt(hn::Mul(top, best_bottom), hn::Mul(best_top, bottom));
      best_top = hn::IfThenElse(better, top, best_top);
      best_bottom = hn::IfThenElse(better, bottom, best_bottom);
      const auto at = hn::Iota(di, static_cast<std::int32_t>(begin + i));
      best_at = hn::IfThenElse(hn::RebindMask(di, better), at, best_at);
    }
  }
  const auto gain = hn::Div(best_top, best_bottom);
  const auto largest = hn::MaxOfLanes(d, gain);
  const auto found = hn::FindFirstTrue(d, hn::Eq(gain, largest));
  HWY_ALIGN float gains[block_columns];
  HWY_ALIGN std::int32_t points[block_columns];
  hn::Store(gain, d, gains);
  hn::Store(best_at, di, points);
  if (found < 0 || points[found] < 0) return {0, 0};
  return {static_cast<double>(gains[found]), static_cast<std::size_t>(points[found])};
}

}  // namespace grouped_gradient_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {
namespace {

HWY_EXPORT(measure);
HWY_EXPORT(move);
HWY_EXPORT(extreme_group);
HWY_EXPORT(find_in_group);
HWY_EXPORT(best_partner);

constexpr std::size_t largest_vector = 8;

}  // namespace

GroupedGradient::GroupedGradient(std::size_t points) {
  const std::size_t groups = (points + group_points - 1) / group_points;
  negative_gradient_.assign(groups * group_points, 0.0);
  growth_.assign(negative_gradient_.size(), -infinity);
  fall_.assign(negative_gradient_.size(), infinity);
  low_.assign(negative_gradient_.size(), std::numeric_limits<float>::infinity());
  diagonal_.assign(negative_gradient_.size(), 1.0f);
  const std::size_t padded = (groups + largest_vector - 1) / largest_vector * largest_vector;
  highest_.assign(padded, -infinity);
  lowest_.assign(padded, infinity);
}

void GroupedGradient::set_variables(std::size_t point, double growth, double fall,
                                    double diagonal) {
  growth_[point] = growth;
  fall_[point] = fall;
  diagonal_[point] = static_cast<float>(diagonal);
}

GradientArrays GroupedGradient::arrays() {
  return {negative_gradient_.data(), growth_.data(), fall_.data(), low_.data(),
          highest_.data(),           lowest_.data()};
}

void GroupedGradient::measure(std::size_t point) {
  HWY_DYNAMIC_DISPATCH(measure)(arrays(), point / group_points);
}

void GroupedGradient::measure_all() {
  for (std::size_t p = 0; p < negative_gradient_.size(); p += group_points) measure(p);
}

void GroupedGradient::move(const BlockRow& row, double step) {
  HWY_DYNAMIC_DISPATCH(move)(arrays(), row, step);
}

GroupedGradient::End GroupedGradient::highest() const {
  const std::size_t group =
      HWY_DYNAMIC_DISPATCH(extreme_group)(highest_.data(), highest_.size(), 1);
  const double value = highest_[group];
  return {value, HWY_DYNAMIC_DISPATCH(find_in_group)(negative_gradient_.data(), growth_.data(),
                                                     group, value)};
}

GroupedGradient::End GroupedGradient::lowest() const {
  const std::size_t group = HWY_DYNAMIC_DISPATCH(extreme_group)(lowest_.data(), lowest_.size(), -1);
  const double value = lowest_[group];
  return {value, HWY_DYNAMIC_DISPATCH(find_in_group)(negative_gradient_.data(), fall_.data(), group,
                                                     value)};
}

GroupedGradient::Partner GroupedGradient::best_partner(const BlockRow& row,
                                                       double negative_gradient,
                                                       double diagonal) const {
  return HWY_DYNAMIC_DISPATCH(best_partner)(low_.data(), diagonal_.data(), row,
                                            static_cast<float>(negative_gradient),
                                            static_cast<float>(diagonal));
}

}  // namespace maxmargin
#endif
