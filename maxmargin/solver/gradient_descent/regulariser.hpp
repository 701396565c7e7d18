#pragma once

#include <span>
#include <vector>

#include "maxmargin/solver/gradient_descent/gradient_descent.hpp"

namespace maxmargin {

/// Omega[f] of table 10.3 for f = K beta at the points, and its gradient by beta.
double regulariser_value(Regulariser regulariser, std::span<const double> beta,
                         std::span<const double> f);
std::vector<double> regulariser_gradient(Regulariser regulariser, const Quadratic& K,
                                         std::span<const double> beta, std::span<const double> f,
                                         Precision precision, const Threads& threads);

/// A bound from below on min over f, lambda of Omega[f] + losses: the dual at the best share of a,
/// made to satisfy the equality rows; minus infinity where these are not those of biases.
///
///   Omega[f] + losses >= - sum phi(a) + min over f of Omega[f] - c'f,    c = sum s a at the
///   points,
///
/// where the last is 0 for |f|/2 as long as c'Kc <= 1/4, 0 for sum |beta| as long as |Kc| <= 1
/// everywhere, and -c'c/4 for sum f(x)^2.
double regularised_dual(const DualQp& qp, Regulariser regulariser, std::vector<double> a,
                        const Threads& threads);

/// min over beta, lambda of Omega[f] + losses by the gradient in beta with a line search, for as
/// many steps as `stop` allows: these regularisers have no rule that tells when to stop.
Solution run_regularised(const DualQp& qp, const GradientDescent& options, const Run& run);

}  // namespace maxmargin
