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

/// min over beta, lambda of Omega[f] + losses by the gradient in beta with a line search, for as
/// many steps as `stop` allows: these regularisers have no rule that tells when to stop.
Solution run_regularised(const DualQp& qp, const GradientDescent& options, const Run& run);

}  // namespace maxmargin
