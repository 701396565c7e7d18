#pragma once

#include <optional>
#include <string>

#include "maxmargin/certify/expansion.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// The linear-programming machine (F11, LWK 10.7.1): sum |beta_j| in the place of 1/2 |w|^2, see
/// certify/expansion.hpp, by Mehrotra's predictor-corrector method for
///
///   min 1'(beta+ + beta-) + u'xi - l'z   subject to   s (K (beta+ - beta-) + b) + xi - z = -p,
///
/// all but b >= 0. Needs all of K in double twice; an iteration forms and factors
/// K D K' + a diagonal, O(m^3), whatever the number of variables a point has.
struct LinearProgram {
  Stop stop;
  std::size_t memory_bytes = std::size_t{1} << 30;
  static constexpr std::string_view name = "linear-program";
};

/// Why it cannot take a problem: costs must be piecewise linear and finite.
std::optional<std::string> refuses(const DualQp& qp, const LinearProgram& options);

struct ExpansionSolved {
  ExpansionCertified certified;
  Ended ended = Ended::stalled;
  std::size_t iterations = 0;
};

/// run and certify. Coefficients that are rounding beside the largest are 0. Throws Error where it
/// refuses.
ExpansionSolved solve(const DualQp& qp, const LinearProgram& options, const Context& context);

}  // namespace maxmargin
