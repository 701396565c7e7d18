#pragma once

#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// Huber's robust loss: Lambda (y - g) / sigma within sigma, Lambda sgn(y - g) beyond.
struct HuberRule : GradientRule {
  double sigma = 1;
  static constexpr std::string_view name = "huber";
  static constexpr std::string_view formula =
      "(y - g)^2 / (2 sigma), |y - g| - sigma / 2 beyond sigma";
  static constexpr std::string_view source = "(10.139), factor mended";
  static constexpr auto fields =
      std::tuple{field("sigma", &HuberRule::sigma, "errors up to this count squared", positive)};

  static constexpr Outcome outcome = Outcome::number;
  static constexpr bool convex = true;
  static constexpr double slope_bound = 1;
  double first_width() const { return sigma; }
  double loss(double y, double g, double width) const {
    const double error = std::abs(y - g);
    return error < width ? error * error / (2 * width) : error - width / 2;
  }
  double slope(double y, double g, double width) const {
    const double error = y - g;
    return std::abs(error) < width ? -error / width : -sign(error);
  }
};

}  // namespace maxmargin
