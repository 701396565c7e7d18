#include "maxmargin/solver/smo/set/inner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/solver/smo/pair_step.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/smo/set/inner.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace inner_loops {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double infinity = std::numeric_limits<double>::infinity();

using D = hn::CappedTag<double, 8>;
using V = decltype(hn::Zero(D()));

// Independent chains of comparisons, to hide their latency.
constexpr std::size_t chains = 4;

/// The largest of the lanes and, among equals, the smallest index.
struct Best {
  double value;
  std::size_t index;
};

HWY_INLINE Best best_of(const V (&values)[chains], const V (&indices)[chains]) {
  const D d;
  V value = values[0], index = indices[0];
  HWY_UNROLL(4)
  for (std::size_t c = 1; c < chains; ++c) {
    const auto larger = hn::Gt(values[c], value);
    const auto first = hn::And(hn::Eq(values[c], value), hn::Lt(indices[c], index));
    const auto better = hn::Or(larger, first);
    value = hn::IfThenElse(better, values[c], value);
    index = hn::IfThenElse(better, indices[c], index);
  }
  const V largest = hn::MaxOfLanes(d, value);
  const V of_largest = hn::IfThenElse(hn::Eq(value, largest), index, hn::Set(d, infinity));
  // Converted as a signed number, because -1 stands for none.
  const double at = hn::GetLane(hn::MinOfLanes(d, of_largest));
  return {hn::GetLane(largest), static_cast<std::size_t>(static_cast<std::int64_t>(at))};
}

/// Of one group: the variable that can grow with the highest negative gradient, and the lowest
/// negative gradient of a variable that can fall.
struct Scan {
  Best highest{-infinity, 0};
  double lowest = infinity;
  double violation() const { return highest.value - lowest; }
};

/// Updates the gradient after a step, and finds m and M.
HWY_INLINE Scan scan(InnerProblem& p, std::size_t begin, std::size_t end,
                     const float* HWY_RESTRICT row_i, const float* HWY_RESTRICT row_j,
                     double step) {
  const D d;
  const hn::Rebind<float, D> df;
  const std::size_t lanes = hn::Lanes(d);
  const V move = hn::Set(d, step), stride = hn::Set(d, static_cast<double>(chains * lanes));
  const std::size_t shift = p.alike ? begin : 0;
  double* HWY_RESTRICT gradient = p.negative_gradient.data();
  const double* HWY_RESTRICT growth = p.growth.data();
  const double* HWY_RESTRICT fall = p.fall.data();
  V best[chains], best_at[chains], low[chains], at[chains];
  for (std::size_t c = 0; c < chains; ++c) {
    best[c] = hn::Set(d, -infinity);
    low[c] = hn::Set(d, infinity);
    at[c] = hn::Iota(d, static_cast<double>(begin + c * lanes));
    best_at[c] = at[c];
  }
  for (std::size_t k = begin; k < end; k += chains * lanes) {
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < chains; ++c) {
      const std::size_t here = k + c * lanes, at_row = here - shift;
      const V difference =
          hn::PromoteTo(d, hn::Sub(hn::Load(df, row_i + at_row), hn::Load(df, row_j + at_row)));
      const V negative_gradient = hn::NegMulAdd(move, difference, hn::Load(d, gradient + here));
      hn::Store(negative_gradient, d, gradient + here);
      const V up = hn::Add(negative_gradient, hn::Load(d, growth + here));
      const auto better = hn::Gt(up, best[c]);
      best[c] = hn::IfThenElse(better, up, best[c]);
      best_at[c] = hn::IfThenElse(better, at[c], best_at[c]);
      low[c] = hn::Min(low[c], hn::Add(negative_gradient, hn::Load(d, fall + here)));
      at[c] = hn::Add(at[c], stride);
    }
  }
  const V lowest = hn::Min(hn::Min(low[0], low[1]), hn::Min(low[2], low[3]));
  return {best_of(best, best_at), hn::GetLane(hn::MinOfLanes(d, lowest))};
}

/// The partner j in [begin, end) that, with i, promises the largest decrease, the square of the
/// violation by the curvature. Fractions are compared by cross-multiplication, which spares the
/// divisions.
HWY_INLINE std::size_t partner(const InnerProblem& p, std::size_t i, std::size_t begin,
                               std::size_t end) {
  const D d;
  const hn::Rebind<float, D> df;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t shift = p.alike ? begin : 0;
  const float* HWY_RESTRICT row = p.row[i];
  const double* HWY_RESTRICT gradient = p.negative_gradient.data();
  const double* HWY_RESTRICT fall = p.fall.data();
  const double* HWY_RESTRICT diagonal = p.diagonal.data();
  const V negative_gradient_i = hn::Set(d, p.negative_gradient[i] + p.growth[i]),
          diagonal_i = hn::Set(d, p.diagonal[i]);
  const V least = hn::Set(d, least_pair_curvature), two = hn::Set(d, 2.0), zero = hn::Zero(d);
  const V stride = hn::Set(d, static_cast<double>(chains * lanes));
  V best_top[chains], best_bottom[chains], best_at[chains], at[chains];
  for (std::size_t c = 0; c < chains; ++c) {
    best_top[c] = zero;
    best_bottom[c] = hn::Set(d, 1.0);
    best_at[c] = hn::Set(d, -1.0);
    at[c] = hn::Iota(d, static_cast<double>(begin + c * lanes));
  }
  for (std::size_t k = begin; k < end; k += chains * lanes) {
    HWY_UNROLL(4)
    for (std::size_t c = 0; c < chains; ++c) {
      const std::size_t here = k + c * lanes;
      // Variables that cannot fall have plus infinity, and so a negative difference.
      const V down = hn::Add(hn::Load(d, gradient + here), hn::Load(d, fall + here));
      const V b = hn::Max(hn::Sub(negative_gradient_i, down), zero);
      const V kernel = hn::PromoteTo(d, hn::Load(df, row + here - shift));
      const V sum = hn::Add(diagonal_i, hn::Load(d, diagonal + here));
      const V bottom = hn::Max(hn::NegMulAdd(two, kernel, sum), least);
      const V top = hn::Mul(b, b);
      const auto better = hn::Gt(hn::Mul(top, best_bottom[c]), hn::Mul(best_top[c], bottom));
      best_top[c] = hn::IfThenElse(better, top, best_top[c]);
      best_bottom[c] = hn::IfThenElse(better, bottom, best_bottom[c]);
      best_at[c] = hn::IfThenElse(better, at[c], best_at[c]);
      at[c] = hn::Add(at[c], stride);
    }
  }
  // The lanes are compared by their quotients.
  V quotient[chains];
  for (std::size_t c = 0; c < chains; ++c) quotient[c] = hn::Div(best_top[c], best_bottom[c]);
  return best_of(quotient, best_at).index;
}

/// The group that violates most.
std::size_t scan_all(InnerProblem& p, const float* row_i, const float* row_j, double step,
                     std::vector<Scan>& groups) {
  std::size_t worst = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g] = scan(p, p.begin[g], p.begin[g + 1], row_i, row_j, step);
    if (groups[g].violation() > groups[worst].violation()) worst = g;
  }
  return worst;
}

/// Of the variables of a position the one that moves when it grows, or falls.
InnerProblem::Variable& growing(InnerProblem& p, std::size_t k) {
  auto& [first, second] = p.variable[k];
  return first.beta < first.upper && first.own == p.growth[k] ? first : second;
}
InnerProblem::Variable& falling(InnerProblem& p, std::size_t k) {
  auto& [first, second] = p.variable[k];
  return first.beta > first.lower && first.own == p.fall[k] ? first : second;
}

InnerResult iterate(InnerProblem& p, double target, std::size_t most_steps) {
  InnerResult result;
  for (std::size_t k = 0; k < p.positions(); ++k) note_bounds(p, k);
  std::vector<Scan> groups(p.begin.size() - 1);
  const float* any = *std::ranges::find_if(p.row, [](const float* row) { return row != nullptr; });
  std::size_t group = scan_all(p, any, any, 0, groups);
  while (true) {
    const Scan& now = groups[group];
    result.violation = now.violation();
    if (!(result.violation > target) || result.steps == most_steps) return result;
    const std::size_t i = now.highest.index;
    const std::size_t j = partner(p, i, p.begin[group], p.begin[group + 1]);
    const double kernel = static_cast<double>(p.row[i][p.alike ? j - p.begin[group] : j]);
    const double bottom =
        std::max(p.diagonal[i] + p.diagonal[j] - 2 * kernel, least_pair_curvature);
    InnerProblem::Variable &grown = growing(p, i), &fallen = falling(p, j);
    const double by = p.negative_gradient[i] + p.growth[i] - p.negative_gradient[j] - p.fall[j];
    const PairStep step = move_pair(grown, fallen, by, bottom);
    if (step.length == 0) return result;
    note_bounds(p, i);
    note_bounds(p, j);
    p.negative_gradient[i] -= step.length * p.curvature[i];
    p.negative_gradient[j] += step.length * p.curvature[j];
    result.decrease += step.decrease;
    group = scan_all(p, p.row[i], p.row[j], step.length, groups);
    ++result.steps;
  }
}

}  // namespace inner_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(iterate);

void InnerProblem::reset(std::span<const std::size_t> group_sizes) {
  constexpr std::size_t padding = 32;  // whole rounds of the loops above
  begin.assign(1, 0);
  for (const std::size_t size : group_sizes)
    begin.push_back(begin.back() + (size + padding - 1) / padding * padding);
  row.assign(positions(), nullptr);
  variable.assign(positions(), {});
  for (auto* values : {&negative_gradient, &curvature, &diagonal, &growth, &fall})
    values->assign(positions(), 0.0);
}

void note_bounds(InnerProblem& p, std::size_t k) {
  double growth = -std::numeric_limits<double>::infinity(), fall = -growth;
  if (p.row[k] != nullptr)
    for (const InnerProblem::Variable& each : p.variable[k]) {
      if (each.beta < each.upper) growth = std::max(growth, each.own);
      if (each.beta > each.lower) fall = std::min(fall, each.own);
    }
  p.growth[k] = growth;
  p.fall[k] = fall;
}

InnerResult solve_inner(InnerProblem& problem, double target, std::size_t most_steps) {
  if (std::ranges::all_of(problem.row, [](const float* row) { return row == nullptr; })) return {};
  return HWY_DYNAMIC_DISPATCH(iterate)(problem, target, most_steps);
}

}  // namespace maxmargin
#endif
