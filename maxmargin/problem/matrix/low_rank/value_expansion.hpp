#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// Problem 10.4: k(x_i, .) by basis functions, k~_i = sum_j c_ij k(x_j, .), such that the values at
/// all points are as near as they can be,
///
///   min over c   sum_l (K_li - sum_j K_lj c_ij)^2,   c_i = (K_mn' K_mn)^-1 K_mn' K_mi,
///
/// where algorithm 10.1 has the norm of the feature space and c_i = K_nn^-1 K_ni. Forming and
/// factoring K_mn' K_mn takes O(m n^2) once, and each i O(m n) on top: O(m^2 n) for all of them,
/// against O(m n^2) in the feature space, which needs no value of K beyond K_mn.
struct ValueExpansion {
  std::vector<double> coefficients;  ///< c[k * basis + j] of the k-th point asked for
  std::vector<double> residual;      ///< the least sum of squares of each
};
ValueExpansion expand_values(const Quadratic& K, std::span<const Index> basis,
                             std::span<const Index> points, const Threads& threads);

}  // namespace maxmargin
