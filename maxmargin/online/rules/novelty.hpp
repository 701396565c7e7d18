#pragma once

#include <algorithm>

#include "maxmargin/base/field.hpp"
#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// Online one-class SVM: an alarm where f < rho, and rho grows by Lambda (nu - [alarm]). There is
/// no bias, because only f - rho counts.
struct NoveltyRule : AdaptiveRule {
  double nu = 0.1;
  static constexpr std::string_view name = "novelty";
  static constexpr std::string_view formula = "max(0, rho - f) - nu rho";
  static constexpr std::string_view source = "(10.134), algorithm 10.6, sign mended";
  static constexpr auto fields =
      std::tuple{field("nu", &NoveltyRule::nu, "share of alarms to aim at", open_fraction)};

  static constexpr Outcome outcome = Outcome::novelty;
  static constexpr double preset_lambda = 1;
  static constexpr double slope_bound = 1;
  double loss(double, double f, double rho) const { return std::max(0.0, rho - f) - nu * rho; }
  double slope(double, double f, double rho) const { return f < rho ? -1 : 0; }
  double width_slope(double, double f, double rho) const { return (f < rho ? 1 : 0) - nu; }
};

}  // namespace maxmargin
