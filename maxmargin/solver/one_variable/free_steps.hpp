#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// Newton steps of some variables that lie between their bounds, on
///   L(a) = 1/2 a'Qa + p'a + lambda'r + 1/2 sum_k penalty_k r_k^2,   r = A a - d.
struct FreePoint {
  std::vector<double> a;      ///< of each of these variables
  std::vector<double> slope;  ///< the derivatives of L there
};

/// Minimises L over the variables `free` alone: solves (Q_FF + A_F' P A_F) d = -slope, goes as far
/// as the bounds allow, fixes what has reached one and goes on with the rest, `most_steps` times at
/// most. L never grows. Where one variable at a time takes as many steps as the condition of Q
/// says, one such step does. O(free^3) for each step; no move if the matrix is not definite.
FreePoint newton_steps(const DualQp& qp, std::span<const double> penalty,
                       std::span<const Index> free, FreePoint start, int most_steps,
                       const Threads& threads);

}  // namespace maxmargin
