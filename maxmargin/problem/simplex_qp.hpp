#pragma once

#include <memory>
#include <span>
#include <vector>

#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The machine of Crammer and Singer: all classes in one problem, a simplex for each example
/// (PRML, multi-class; without a bias),
///
///   min over w, xi   1/2 sum_k |w_k|^2 + sum_i C_i xi_i,   xi_i = max_k (e_ik + f_k(x_i)) -
///   f_y(x_i) dual             min 1/2 sum_k a_k'K a_k + sum_ik e_ik a_ik
///                    subject to   sum_k a_ik = 0,   a_ik <= C_i [k = y_i]
///
/// with e_ik = [k != y_i] and f_k = sum_i a_ik K(x_i, .). t_i = C_i [k = y_i] - a_i is a point of
/// the simplex sum t = C_i, t >= 0.
struct SimplexQp {
  std::shared_ptr<const Quadratic> K;
  std::size_t classes = 0;
  std::vector<Index> row;    ///< the point of each example
  std::vector<Index> label;  ///< its class
  std::vector<double> cost;  ///< C_i

  std::size_t size() const { return row.size(); }
  double error(std::size_t i, std::size_t k) const { return label[i] == k ? 0 : 1; }
  double upper(std::size_t i, std::size_t k) const { return label[i] == k ? cost[i] : 0; }

  /// The coefficient of each point in f_k.
  std::vector<double> coefficients(std::span<const double> a, std::size_t k) const {
    std::vector<double> beta(K->size(), 0.0);
    for (std::size_t i = 0; i < size(); ++i) beta[row[i]] += a[i * classes + k];
    return beta;
  }
};

}  // namespace maxmargin
