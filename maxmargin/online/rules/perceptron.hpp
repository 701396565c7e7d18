#pragma once

#include <algorithm>

#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// Rosenblatt's perceptron in feature space. g = 0 counts as an error: otherwise f = 0 would never
/// change.
struct PerceptronRule : GradientRule {
  static constexpr std::string_view name = "perceptron";
  static constexpr std::string_view formula = "max(0, -y g), lambda = 0";
  static constexpr std::string_view source = "(10.133)";
  static constexpr std::tuple<> fields{};

  static constexpr bool decays = false;
  static constexpr double preset_lambda = 0;
  static constexpr bool convex = true;
  static constexpr double slope_bound = 1;
  double loss(double y, double g, double) const { return std::max(0.0, -y * g); }
  double slope(double y, double g, double) const { return y * g <= 0 ? -y : 0; }
};

}  // namespace maxmargin
