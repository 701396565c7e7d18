#pragma once

#include <cstddef>
#include <span>

#include "maxmargin/base/aligned.hpp"

namespace maxmargin {

/// A quadratic in the few variables of a working set, within bounds:
///   min 1/2 a'Ma + (linear terms),  lower <= a <= upper
/// given by its present point and the derivatives there. Arrays are padded with variables that
/// cannot move.
struct SetProblem {
  explicit SetProblem(std::size_t size);

  std::size_t size;
  std::size_t stride;      ///< row length of M
  AlignedVector<float> M;  ///< size rows
  AlignedVector<double> slope, a, lower, upper;
  AlignedVector<double> diagonal;  ///< of M
};

/// From M = K between the variables' points: M_ij = s_i s_j K_ij + sum_r penalty_r A_ri A_rj, the
/// arrays aligned and as long as a row of M.
void add_signs_and_rows(SetProblem& problem, std::span<const double> sign,
                        std::span<const AlignedVector<double>> A, std::span<const double> penalty);

/// Moves the variable with the largest violation to its minimiser within its bounds, over and
/// over, until no violation is above `target` or `most_steps` were done. Returns the number of
/// steps. A variable without curvature and bound in its direction becomes infinite.
std::size_t take_greedy_steps(SetProblem& problem, double target, std::size_t most_steps);

/// How far a variable moves in a sweep: `relaxation` times the way to its minimiser, or `rate`
/// times its derivative, whichever is not 0.
struct Pace {
  double relaxation = 0;
  double rate = 0;
};

/// Moves each variable once, in order, within its bounds. Returns how many moved.
std::size_t take_ordered_steps(SetProblem& problem, Pace pace);

}  // namespace maxmargin
