#include "maxmargin/solver/smo/inner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/smo/inner.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two equal points have no curvature between them; the step is then bounded by the box alone.
constexpr double least_curvature = 1e-12;

using D = hn::CappedTag<double, 8>;
using V = decltype(hn::Zero(D()));

/// The largest of the lanes and, among equals, the smallest index.
struct Best {
  double value;
  std::size_t index;
};

HWY_INLINE Best best_lane(V values, V indices) {
  const D d;
  HWY_ALIGN double value[8], index[8];
  hn::Store(values, d, value);
  hn::Store(indices, d, index);
  // By way of a signed number: -1, for none, has no value as an unsigned one.
  const auto whole = [](double at) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(at));
  };
  Best best{value[0], whole(index[0])};
  for (std::size_t i = 1; i < hn::Lanes(d); ++i) {
    const std::size_t at = whole(index[i]);
    if (value[i] > best.value || (value[i] == best.value && at < best.index)) best = {value[i], at};
  }
  return best;
}

/// The levels after a step, the variable that can grow with the highest of them, and the lowest
/// level of a variable that can fall.
struct Scan {
  Best highest;
  double lowest;
};

HWY_INLINE Scan scan(InnerProblem& p, const float* HWY_RESTRICT row_i,
                     const float* HWY_RESTRICT row_j, double step) {
  const D d;
  const hn::Rebind<float, D> df;
  const std::size_t lanes = hn::Lanes(d);
  const V minus = hn::Set(d, -std::numeric_limits<double>::infinity());
  const V plus = hn::Set(d, std::numeric_limits<double>::infinity());
  const V move = hn::Set(d, step);
  V best = minus, best_at = hn::Zero(d), low = plus, at = hn::Iota(d, 0);
  for (std::size_t k = 0; k < p.stride;
       k += lanes, at = hn::Add(at, hn::Set(d, static_cast<double>(lanes)))) {
    const V difference =
        hn::PromoteTo(d, hn::Sub(hn::Load(df, row_i + k), hn::Load(df, row_j + k)));
    const V level = hn::NegMulAdd(move, difference, hn::Load(d, &p.level[k]));
    hn::Store(level, d, &p.level[k]);
    const V beta = hn::Load(d, &p.beta[k]);
    const V up = hn::IfThenElse(hn::Lt(beta, hn::Load(d, &p.upper[k])), level, minus);
    const V down = hn::IfThenElse(hn::Gt(beta, hn::Load(d, &p.lower[k])), level, plus);
    const auto better = hn::Gt(up, best);
    best = hn::IfThenElse(better, up, best);
    best_at = hn::IfThenElse(better, at, best_at);
    low = hn::Min(low, down);
  }
  return {best_lane(best, best_at), hn::GetLane(hn::MinOfLanes(d, low))};
}

/// The partner j that, with i, promises the largest decrease (F_i - F_j)^2 / curvature. Fractions
/// are compared by cross-multiplication, which spares the divisions.
HWY_INLINE std::size_t partner(const InnerProblem& p, std::size_t i) {
  const D d;
  const hn::Rebind<float, D> df;
  const std::size_t lanes = hn::Lanes(d);
  const float* HWY_RESTRICT row = p.K.data() + i * p.stride;
  const V level_i = hn::Set(d, p.level[i]), diagonal_i = hn::Set(d, p.diagonal[i]);
  const V least = hn::Set(d, least_curvature);
  V best_top = hn::Zero(d), best_bottom = hn::Set(d, 1.0), best_at = hn::Set(d, -1.0);
  V at = hn::Iota(d, 0);
  for (std::size_t k = 0; k < p.stride;
       k += lanes, at = hn::Add(at, hn::Set(d, static_cast<double>(lanes)))) {
    const V b = hn::Sub(level_i, hn::Load(d, &p.level[k]));
    const V kernel = hn::PromoteTo(d, hn::Load(df, row + k));
    const V sum = hn::Add(diagonal_i, hn::Load(d, &p.diagonal[k]));
    const V bottom = hn::Max(hn::NegMulAdd(hn::Set(d, 2.0), kernel, sum), least);
    const V top = hn::Mul(b, b);
    const auto better = hn::And(
        hn::And(hn::Gt(hn::Load(d, &p.beta[k]), hn::Load(d, &p.lower[k])), hn::Gt(b, hn::Zero(d))),
        hn::Gt(hn::Mul(top, best_bottom), hn::Mul(best_top, bottom)));
    best_top = hn::IfThenElse(better, top, best_top);
    best_bottom = hn::IfThenElse(better, bottom, best_bottom);
    best_at = hn::IfThenElse(better, at, best_at);
  }
  // The quotients of the few lanes decide.
  return best_lane(hn::Div(best_top, best_bottom), best_at).index;
}

InnerResult iterate(InnerProblem& p, double target, std::size_t most_steps) {
  InnerResult result;
  Scan now = scan(p, p.K.data(), p.K.data(), 0);
  while (true) {
    result.violation = now.highest.value - now.lowest;
    if (!(result.violation > target) || result.steps == most_steps) return result;
    const std::size_t i = now.highest.index;
    const std::size_t j = partner(p, i);
    const float* row_i = p.K.data() + i * p.stride;
    const double bottom = std::max(
        p.diagonal[i] + p.diagonal[j] - 2 * static_cast<double>(row_i[j]), least_curvature);
    const double room_i = p.upper[i] - p.beta[i], room_j = p.beta[j] - p.lower[j];
    const double wish = (p.level[i] - p.level[j]) / bottom;
    const double step = std::min({wish, room_i, room_j});
    if (p.beta[i] + step == p.beta[i] && p.beta[j] - step == p.beta[j]) return result;
    // What reaches a bound lies on it exactly.
    p.beta[i] = step == room_i ? p.upper[i] : p.beta[i] + step;
    p.beta[j] = step == room_j ? p.lower[j] : p.beta[j] - step;
    p.level[i] -= step * p.curvature[i];
    p.level[j] += step * p.curvature[j];
    now = scan(p, row_i, p.K.data() + j * p.stride, step);
    ++result.steps;
  }
}

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(iterate);

InnerProblem::InnerProblem(std::size_t variables)
    : size(variables), stride((variables + 15) / 16 * 16), K(variables * stride, 0.0f) {
  for (auto* values : {&level, &beta, &lower, &upper, &curvature, &diagonal})
    values->assign(stride, 0.0);
}

InnerResult solve_inner(InnerProblem& problem, double target, std::size_t most_steps) {
  if (problem.size == 0) return {};
  return HWY_DYNAMIC_DISPATCH(iterate)(problem, target, most_steps);
}

}  // namespace maxmargin
#endif
