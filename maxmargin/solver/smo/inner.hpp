#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/base/aligned.hpp"

namespace maxmargin {

/// The problem within a working set, in beta = s a:
///   min 1/2 b'Kb + sum_k (linear_k b_k + curvature_k b_k^2 / 2),  sum of b within each group
///   constant,  lower <= b <= upper
/// given by its present point and levels F_k = -(derivative at b_k). The groups lie one behind the
/// other, each padded with variables that cannot move, so that vectors never span two of them.
struct InnerProblem {
  /// Takes new groups of these sizes; the memory is used again.
  void reset(std::span<const std::size_t> group_sizes);

  std::vector<std::size_t> begin;  ///< of each group, and the end of the last
  std::size_t stride = 0;          ///< row length of K: all groups with their padding
  const float* K = nullptr;        ///< a row for each variable; aligned, set by the caller
  AlignedVector<double> level, beta, lower, upper, curvature;
  AlignedVector<double> diagonal;  ///< K_kk + curvature
  /// Kept by solve_inner: 0 where beta can grow (fall), else minus (plus) infinity.
  AlignedVector<double> growth, fall;
};

struct InnerResult {
  std::size_t steps = 0;
  double violation = 0;  ///< the largest m - M of a group, at the end
};

/// Moves pairs chosen by second order until m - M of every group is at most `target` or
/// `most_steps` were done.
InnerResult solve_inner(InnerProblem& problem, double target, std::size_t most_steps);

}  // namespace maxmargin
