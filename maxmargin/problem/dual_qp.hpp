#pragma once

#include <memory>
#include <vector>

#include "maxmargin/loss/block.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The one problem that every dual solver solves:
///
///   min over a   1/2 a'Qa + p'a     subject to   A a = d,   l <= a <= u
///   with         Q_vw = s_v s_w K(row_v, row_w) + c_v [v = w]
///
/// Variable v is a block (s, p, l, u, c) on the point row_v of K. The decision function is
/// f(x) = sum_v s_v a_v K(x_v, x) + sum_r lambda_r phi_r(x): each unpenalised function phi_r is one
/// row of A (A_rv = s_v phi_r(x_v); the bias is phi = 1) and its coefficient that row's multiplier.
/// The nu machines have a row for each sign instead, A_rv = s_v [v in group r]: the half sum of the
/// two multipliers is the bias, their half difference the width that nu chooses.
struct DualQp {
  std::shared_ptr<const Quadratic> K;
  std::vector<Index> row;
  std::vector<Block> block;
  std::vector<std::vector<double>> A;  ///< k rows of size() numbers
  std::vector<double> d;               ///< k numbers

  std::size_t size() const { return block.size(); }

  /// beta, the coefficient of each point in f, from the variables.
  std::vector<double> coefficients(std::span<const double> a) const {
    std::vector<double> beta(K->size(), 0.0);
    for (std::size_t v = 0; v < size(); ++v) beta[row[v]] += block[v].sign * a[v];
    return beta;
  }
};

}  // namespace maxmargin
