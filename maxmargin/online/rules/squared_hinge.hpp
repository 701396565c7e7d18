#pragma once

#include <algorithm>

#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// The squared hinge loss: alpha_t = Lambda y (1 - y g) where y g < 1, the kernel AdaTron's step.
struct SquaredHingeRule : GradientRule {
  static constexpr std::string_view name = "squared-hinge";
  static constexpr std::string_view formula = "max(0, 1 - y g)^2 / 2";
  static constexpr std::string_view source = "(10.96): the kernel AdaTron";
  static constexpr std::tuple<> fields{};

  static constexpr bool convex = true;
  double loss(double y, double g, double) const {
    const double error = std::max(0.0, 1 - y * g);
    return error * error / 2;
  }
  double slope(double y, double g, double) const { return -y * std::max(0.0, 1 - y * g); }
};

}  // namespace maxmargin
