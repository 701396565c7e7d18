#pragma once

#include <vector>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/problem/simplex_qp.hpp"

namespace maxmargin {

/// How good variables of a SimplexQp are. The gap is a sum over the examples,
///
///   gap_i = C_i max_k g_ik - sum_k t_ik g_ik >= 0,   g_ik = e_ik + f_k(x_i),   t = C [k = y] - a
///
/// and the violation of the optimality conditions of an example is max_k g_ik less the smallest
/// g_ik of those with t_ik > 0.
struct SimplexCertified {
  Certificate certificate;
  /// What the examples of each class contribute to primal, dual and gap: 1/2 |w_k|^2 and their
  /// losses, 1/2 |w_k|^2 and e_k'a_k, their gaps.
  std::vector<Certificate> of_class;
  std::vector<std::vector<double>> f;  ///< of each class at the points
  double seconds = 0;
};

/// `a[i * classes + k]`.
SimplexCertified certify(const SimplexQp& qp, std::span<const double> a, Precision precision,
                         const Threads& threads);

/// The same from known f, whose error is expected to be `rounding`.
SimplexCertified certify(const SimplexQp& qp, std::span<const double> a,
                         std::vector<std::vector<double>> f, double rounding);

}  // namespace maxmargin
