#pragma once

#include <vector>

#include "maxmargin/certify/certify.hpp"

namespace maxmargin {

/// A point of the linear-programming machine (LWK 10.7.1, problem 10.1),
///
///   primal   min over beta, b   sum_j |beta_j| + sum_v phi_v*(-s_v f(x_v))
///            with               f = sum_j beta_j k(x_j, .) + b
///   dual     max over a         -sum_v phi_v(a_v)
///            subject to         |sum_v s_v a_v K(x_v, x_j)| <= 1,  A a = d,  l <= a <= u
///
/// over the points, blocks and rows of a DualQp. The coefficients of the expansion are not the dual
/// variables, so that both are needed.
struct ExpansionPoint {
  std::vector<double> beta;    ///< of each point
  std::vector<double> lambda;  ///< of the equality rows: b
  std::vector<double> a;
};

struct ExpansionCertified {
  ExpansionPoint expansion;  ///< its `a` scaled until |K s a| <= 1 holds
  Certificate certificate;
  double seconds = 0;
};

/// Bounds of both objectives of problem 10.1, whose gap is, term by term each >= 0,
///
///   gap = sum_j (|beta_j| - beta_j (K s a)_j)
///       + sum_v (phi_v*(-s_v f_v) + phi_v(a_v) + s_v a_v f_v)
///
/// `kkt` is the largest of the latter terms for a cost of 1, which has the unit of f.
ExpansionCertified certify(const DualQp& qp, ExpansionPoint expansion, const Threads& threads);

}  // namespace maxmargin
