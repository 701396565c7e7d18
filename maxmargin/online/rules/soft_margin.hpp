#pragma once

#include <algorithm>

#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// The hinge loss: where y g < 1, alpha_t = y Lambda, and the bias grows by as much.
struct SoftMarginRule : GradientRule {
  static constexpr std::string_view name = "soft-margin";
  static constexpr std::string_view formula = "max(0, 1 - y g)";
  static constexpr std::string_view source = "(10.131)";
  static constexpr std::tuple<> fields{};

  static constexpr bool convex = true;
  static constexpr double slope_bound = 1;
  double loss(double y, double g, double) const { return std::max(0.0, 1 - y * g); }
  double slope(double y, double g, double) const { return y * g < 1 ? -y : 0; }
};

}  // namespace maxmargin
