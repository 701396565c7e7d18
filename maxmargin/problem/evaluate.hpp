#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// Both objectives at a point `a`, and the multipliers that make the primal smallest.
struct Evaluation {
  std::vector<double> lambda;
  double primal = infinity;
  double dual = -infinity;
  double gap = infinity;  ///< summed term by term, each of them >= 0
  double kkt = infinity;
};

/// From `f`, the products K beta at the points, in O(m log m). Where no variable stands in two
/// equality rows, lambda is exactly the one that makes the primal smallest; otherwise it is so to
/// about 1e-12, see multipliers.hpp, and never worse than the given one. Where a block has no upper
/// bound and no curvature (hard margin) the primal is that of f scaled up until every margin is 1,
/// and infinite if no scaling does it.
Evaluation evaluate(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                    std::vector<double> lambda);

/// The lambda of one row that minimises lambda d + sum phi*(-(rest + weight lambda)): the middle of
/// the interval if there are several, its end if the interval has only one. It is looked for from
/// `guess` on.
double best_multiplier(std::span<const Block> blocks, std::span<const double> rest,
                       std::span<const double> weight, double d, double guess);

/// The relative gap of two bounds, (10.9).
double relative_gap(double primal, double dual);

/// The gap of problem 10.2, for an offset that is not the best one: at fixed multipliers, and
/// variables that need not keep A a = d. `primal` is R[w, lambda], a bound of the optimum from
/// above; no w has less than primal - gap with these multipliers, sum_v phi_v(a_v) + phi_v*(-h_v) +
/// h_v a_v, which is primal - dual + lambda'(A a - d).
struct OffsetGap {
  double primal = infinity, gap = infinity;
};
OffsetGap offset_gap(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                     std::span<const double> lambda);

}  // namespace maxmargin
