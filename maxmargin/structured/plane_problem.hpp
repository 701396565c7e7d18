#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

/// The dual restricted to the planes of one example, all others fixed:
///
///   max over a >= 0, sum a <= U of   sum_k a_k s_k - 1/2 a'(G + c 11')a
///
/// where s is taken at the initial a. The truth is a plane with s = 0 and G = 0, and its alpha is
/// U - sum a.
struct PlaneProblem {
  std::vector<double> G;       ///< k by k: <psi_k, psi_l>
  std::vector<double> s;       ///< at alpha, c included
  std::vector<double> alpha;   ///< feasible
  double capacity = infinity;  ///< U
  double curvature = 0;        ///< c
};

/// SMO with the most violating pair, O(k) per step, and now and then a Newton step over all planes
/// with alpha > 0. Stops when the violation is at most `share` of the initial one, which it
/// returns.
double solve_by_pairs(PlaneProblem& problem, double share, std::size_t most_steps);

}  // namespace maxmargin
