#pragma once

#include <cstddef>

#include "maxmargin/base/aligned.hpp"

namespace maxmargin {

/// The problem within a working set, in beta = s a:
///   min 1/2 b'Kb + sum_k (linear_k b_k + curvature_k b_k^2 / 2),  sum b = const,  lower <= b <=
///   upper
/// given by its present point and levels F_k = -(derivative at b_k). Arrays are padded with
/// variables that cannot move.
struct InnerProblem {
  explicit InnerProblem(std::size_t size);

  std::size_t size;
  std::size_t stride;      ///< row length of K
  AlignedVector<float> K;  ///< size rows
  AlignedVector<double> level, beta, lower, upper, curvature;
  AlignedVector<double> diagonal;  ///< K_kk + curvature
};

struct InnerResult {
  std::size_t steps = 0;
  double violation = 0;  ///< m - M within the set, at the end
};

/// Moves pairs chosen by second order until m - M is at most `target` or `most_steps` were done.
InnerResult solve_inner(InnerProblem& problem, double target, std::size_t most_steps);

}  // namespace maxmargin
