#pragma once

#include <limits>
#include <string_view>
#include <tuple>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

// A rule says what one row changes. With g = f(x) + b, the rate Lambda and the loss c(y, g):
//
//   f <- (1 - lambda Lambda) f - Lambda c'(y, g) k(x, .)     (10.125)
//   b <- b - Lambda c'(y, g)
//
// and a width (margin rho, tube epsilon, scale sigma) that is learned along with f goes down its
// own slope. So a rule is loss(y, g, width), its slope in g and, where the width is learned,
// width_slope. Rules that are no gradient descent have step(y, g, self) in place of slope.

/// What every rule has, unless it says otherwise.
struct OnlineRule {
  static constexpr Outcome outcome = Outcome::classes;
  static constexpr bool decays = true;           ///< f shrinks by 1 - lambda Lambda
  static constexpr double preset_lambda = 1e-4;  ///< lambda where none is given
  static constexpr bool adaptive = false;        ///< the width is learned
  static constexpr bool convex = false;          ///< in f, at a width that does not change
  static constexpr bool projects = false;        ///< to the ball of radius lambda^-1/2
  /// |c'| is never larger: what (10.130) needs.
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
