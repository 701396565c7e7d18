#pragma once

#include <limits>
#include <string_view>
#include <tuple>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

// An update rule of stochastic gradient descent in feature space (Kivinen, Smola and Williamson
// 2004; LWK 10.6.3): what one row changes. With g = f(x) + b, the rate Lambda and the loss c(y, g),
//
//   f <- (1 - lambda Lambda) f - Lambda c'(y, g) k(x, .)     (10.125)
//   b <- b - Lambda c'(y, g)
//
// and where a width is learned along with f (the margin rho, the tube epsilon, the scale sigma), it
// makes a step against its own derivative. So a rule is loss(y, g, width), slope = dc/dg and, where
// the width is learned, width_slope = dc/dwidth. A rule that is no gradient descent has
// step(y, g, self) in place of slope.

/// The declarations of a rule, with the values that most rules have.
struct OnlineRule {
  static constexpr Outcome outcome = Outcome::classes;
  static constexpr bool decays = true;           ///< f shrinks by 1 - lambda Lambda
  static constexpr double preset_lambda = 1e-4;  ///< lambda where none is given
  static constexpr bool adaptive = false;        ///< the width is learned
  static constexpr bool convex = false;          ///< the loss, in f, while the width is constant
  static constexpr bool projects = false;        ///< f, to the ball of radius lambda^-1/2
  /// Lipschitz constant of the loss: a bound of |c'|, which (10.130) needs.
  static constexpr double slope_bound = std::numeric_limits<double>::infinity();

  double first_width() const { return 0; }

 protected:
  static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
};

struct GradientRule : OnlineRule {};

struct AdaptiveRule : GradientRule {
  static constexpr bool adaptive = true;
};

template <class Rule>
concept HasSlope = requires(const Rule& rule) {
  rule.slope(1.0, 0.0, 0.0);
};

}  // namespace maxmargin
