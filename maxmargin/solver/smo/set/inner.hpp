#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/base/aligned.hpp"

namespace maxmargin {

/// A problem in beta = s a whose kernel rows are all in memory, that of a working set or a whole
/// one:
///   min 1/2 b'Kb + sum_k (linear_k b_k + curvature_k b_k^2 / 2),  sum of b within each group
///   constant,  lower <= b <= upper
/// given by its present point and gradient. Variables stand at positions, one or, where they share
/// a row of K, two; the negative gradient F of a position and what a variable adds to it is minus
/// the derivative by the variable. The groups lie one behind the other, each padded with positions
/// that cannot move, so that vectors never span two of them.
struct InnerProblem {
  struct Variable {
    double beta = 0, lower = 0, upper = 0;
    double own = 0;  ///< what it adds to the negative gradient
  };

  /// Takes new groups of these sizes, without rows; the memory is used again.
  void reset(std::span<const std::size_t> group_sizes);

  std::size_t positions() const { return begin.back(); }

  std::vector<std::size_t> begin = {0};  ///< of each group, and the end of the last
  /// Of each position: its kernel values with all positions, or, where groups are `alike`, with
  /// those of any group; aligned. Null: it cannot move.
  std::vector<const float*> row;
  bool alike = false;
  std::vector<std::array<Variable, 2>> variable;  ///< at each position; one without bounds is none
  AlignedVector<double> negative_gradient;
  AlignedVector<double> curvature;  ///< of the variable of a position that has one
  AlignedVector<double> diagonal;   ///< K_kk + curvature
  /// Kept by solve_inner: the most (least) that a variable adds to the negative gradient which can
  /// grow (fall); minus (plus) infinity where none can.
  AlignedVector<double> growth, fall;
};

struct InnerResult {
  std::size_t steps = 0;
  double violation = 0;  ///< the largest m - M of a group, at the end
  double decrease = 0;   ///< of the objective
};

/// Moves pairs chosen by second order until m - M of every group is at most `target` or
/// `most_steps` were done.
InnerResult solve_inner(InnerProblem& problem, double target, std::size_t most_steps);

/// Fills growth and fall of a position from its variables.
void note_bounds(InnerProblem& problem, std::size_t position);

}  // namespace maxmargin
