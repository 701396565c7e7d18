#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

/// The dual over the planes of one block, the rest of w being fixed:
///
///   max over a >= 0, sum a <= U of   sum_k a_k s_k - 1/2 a'(G + c 11')a
///
/// with s at the a it starts from. The truth is the plane with s = 0 and G = 0 that takes what is
/// left of U.
struct PlaneProblem {
  std::vector<double> G;       ///< k by k: <psi_k, psi_l>
  std::vector<double> s;       ///< at alpha, c included
  std::vector<double> alpha;   ///< feasible
  double capacity = infinity;  ///< U
  double curvature = 0;        ///< c
};

/// Sequential minimal optimisation by the pair that violates most, a step k operations, with a
/// Newton step among the planes that have alpha now and then; until no pair violates by more than
/// this share of the first violation, which it returns.
double solve_by_pairs(PlaneProblem& problem, double share, std::size_t most_steps);

}  // namespace maxmargin
