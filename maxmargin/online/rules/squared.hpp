#pragma once

#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// The squared loss of regression. Its slope is almost never 0, so nearly every row is stored.
struct SquaredRule : GradientRule {
  static constexpr std::string_view name = "squared";
  static constexpr std::string_view formula = "(y - g)^2 / 2";
  static constexpr std::string_view source = "(10.135)";
  static constexpr std::tuple<> fields{};

  static constexpr Outcome outcome = Outcome::number;
  static constexpr bool convex = true;
  double loss(double y, double g, double) const { return (y - g) * (y - g) / 2; }
  double slope(double y, double g, double) const { return g - y; }
};

}  // namespace maxmargin
