#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The lambda that minimises the primal for given products,
///
///   P(lambda) = lambda'd + sum_v phi_v*(-(q_v + (A'lambda)_v)),   q_v = s_v (K beta)(x_v)
///
/// for any few rows A. P is convex and piecewise quadratic in k dimensions, and minus the optimum
/// of the separable problem min sum_v phi_v(t_v) + q_v t_v subject to A t = d, l <= t <= u, whose
/// multipliers an interior point method finds in O(n k^2) an iteration. Never worse than `start`.
/// Blocks without a bound and without curvature are not meant for it; where a block has an entropy
/// `start` is returned.
std::vector<double> best_multipliers(const DualQp& qp, std::span<const double> q,
                                     std::vector<double> start);

/// The same for hard margins: the lambda that makes the smallest of the margins -h_v / p_v largest,
/// h = q + A'lambda, by the dual of that linear program, which is a problem of the kind above.
std::vector<double> widest_multipliers(const DualQp& qp, std::span<const double> q,
                                       std::vector<double> start);

}  // namespace maxmargin
