#pragma once

#include <optional>
#include <vector>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/problem/simplex_qp.hpp"

namespace maxmargin {

/// How good variables of a SimplexQp are; objectives are bounds, as in a Certificate. Both are sums
/// over the examples,
///
///   primal_i = 1/2 sum_k a_ik f_k(x_i) + C_i max_k (g_ik - g_iy),   g_ik = e_ik + f_k(x_i)
///   dual_i   = -1/2 sum_k a_ik f_k(x_i) - sum_k e_ik a_ik
///   gap_i    = C_i max_k g_ik - sum_k t_ik g_ik >= 0,               t = C [k = y] - a
///
/// and the violation of the optimality conditions of an example is max_k g_ik less the smallest
/// g_ik of those with t_ik > 0.
struct SimplexCertified {
  Certificate certificate;
  std::vector<Certificate> of_class;   ///< the sums over the examples of each class
  std::vector<std::vector<double>> f;  ///< of each class at the points
  double seconds = 0;
};

/// `a[i * classes + k]`; what is beyond a bound is put onto it. Beside f, which has as many numbers
/// as `a`, it takes room for the coefficients of 256 classes.
SimplexCertified certify(const SimplexQp& qp, std::vector<double>& a, Precision precision,
                         const Threads& threads);

/// The same at a = 0, without any product.
SimplexCertified certify_nothing(const SimplexQp& qp);

/// Where there was no time for a certificate: nothing is claimed.
SimplexCertified uncertified(const SimplexQp& qp);

/// A bound of the error of f of any class at any point, for products of this precision.
double rounding_of(const SimplexQp& qp, std::span<const double> a, Precision precision,
                   const Threads& threads);

/// The same with f in long double; nothing where K has no such products, or they would take
/// minutes.
std::optional<SimplexCertified> certify_extended(const SimplexQp& qp, std::vector<double>& a,
                                                 const Context& context);

}  // namespace maxmargin
