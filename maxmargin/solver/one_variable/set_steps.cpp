#include "maxmargin/solver/one_variable/set_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/one_variable/set_steps.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace set_steps_loops {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = decltype(hn::Zero(D()));

/// The largest violation and, among equals, the smallest index.
struct Worst {
  double violation = 0;
  std::size_t index = 0;
};

/// The derivatives after variable `row` has moved by `step`, and the worst violation among them.
HWY_INLINE Worst moved(SetProblem& p, const float* HWY_RESTRICT row, double step) {
  const D d;
  const hn::Rebind<float, D> df;
  const std::size_t lanes = hn::Lanes(d);
  const V change = hn::Set(d, step), zero = hn::Zero(d);
  V worst = zero, worst_at = zero, at = hn::Iota(d, 0);
  for (std::size_t k = 0; k < p.stride;
       k += lanes, at = hn::Add(at, hn::Set(d, static_cast<double>(lanes)))) {
    const V slope =
        hn::MulAdd(change, hn::PromoteTo(d, hn::Load(df, row + k)), hn::Load(d, &p.slope[k]));
    hn::Store(slope, d, &p.slope[k]);
    const V a = hn::Load(d, &p.a[k]);
    const V up = hn::IfThenElseZero(hn::Lt(a, hn::Load(d, &p.upper[k])), hn::Neg(slope));
    const V down = hn::IfThenElseZero(hn::Gt(a, hn::Load(d, &p.lower[k])), slope);
    const V violation = hn::Max(up, down);
    const auto worse = hn::Gt(violation, worst);
    worst = hn::IfThenElse(worse, violation, worst);
    worst_at = hn::IfThenElse(worse, at, worst_at);
  }
  HWY_ALIGN double value[8], index[8];
  hn::Store(worst, d, value);
  hn::Store(worst_at, d, index);
  Worst result;
  for (std::size_t i = 0; i < lanes; ++i) {
    const auto position = static_cast<std::size_t>(index[i]);
    if (value[i] > result.violation || (value[i] == result.violation && position < result.index))
      result = {value[i], position};
  }
  return result;
}

void combine(SetProblem& p, const double* HWY_RESTRICT sign,
             std::span<const AlignedVector<double>> A, std::span<const double> penalty) {
  const D d;
  const hn::Rebind<float, D> df;
  for (std::size_t i = 0; i < p.size; ++i) {
    float* row = p.M.data() + i * p.stride;
    for (std::size_t j = 0; j < p.stride; j += hn::Lanes(d)) {
      V value = hn::Mul(hn::Set(d, sign[i]), hn::Load(d, sign + j));
      value = hn::Mul(value, hn::PromoteTo(d, hn::Load(df, row + j)));
      for (std::size_t r = 0; r < penalty.size(); ++r)
        value = hn::MulAdd(hn::Set(d, penalty[r] * A[r][i]), hn::Load(d, A[r].data() + j), value);
      hn::Store(hn::DemoteTo(df, value), df, row + j);
    }
  }
}

std::size_t iterate_greedily(SetProblem& p, double target, std::size_t most_steps) {
  std::size_t steps = 0;
  Worst now = moved(p, p.M.data(), 0);
  while (now.violation > target && steps < most_steps) {
    const std::size_t i = now.index;
    const double wish = p.a[i] - p.slope[i] / p.diagonal[i];
    const double to = std::clamp(wish, p.lower[i], p.upper[i]);
    const double step = to - p.a[i];
    if (step == 0) break;  // below the rounding of the variable
    p.a[i] = to;
    ++steps;
    if (!std::isfinite(to)) break;
    now = moved(p, p.M.data() + i * p.stride, step);
  }
  return steps;
}

}  // namespace set_steps_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(combine);
HWY_EXPORT(iterate_greedily);

SetProblem::SetProblem(std::size_t variables)
    : size(variables), stride((variables + 15) / 16 * 16), M(variables * stride, 0.0f) {
  for (auto* values : {&slope, &a, &lower, &upper, &diagonal}) values->assign(stride, 0.0);
}

void add_signs_and_rows(SetProblem& problem, std::span<const double> sign,
                        std::span<const AlignedVector<double>> A, std::span<const double> penalty) {
  HWY_DYNAMIC_DISPATCH(combine)(problem, sign.data(), A, penalty);
}

std::size_t take_greedy_steps(SetProblem& problem, double target, std::size_t most_steps) {
  if (problem.size == 0) return 0;
  return HWY_DYNAMIC_DISPATCH(iterate_greedily)(problem, target, most_steps);
}

std::size_t take_ordered_steps(SetProblem& problem, Pace pace) {
  std::size_t steps = 0;
  for (std::size_t i = 0; i < problem.size; ++i) {
    const double length = pace.rate > 0 ? pace.rate : pace.relaxation / problem.diagonal[i];
    const double to =
        std::clamp(problem.a[i] - length * problem.slope[i], problem.lower[i], problem.upper[i]);
    const double step = to - problem.a[i];
    if (step == 0) continue;
    problem.a[i] = to;
    ++steps;
    const float* row = problem.M.data() + i * problem.stride;
    for (std::size_t k = 0; k < problem.size; ++k)
      problem.slope[k] += step * static_cast<double>(row[k]);
  }
  return steps;
}

}  // namespace maxmargin
#endif
