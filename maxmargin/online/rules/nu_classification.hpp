#pragma once

#include <algorithm>

#include "maxmargin/base/field.hpp"
#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// Online nu-SVC: the margin rho is learned, too, and grows by Lambda (nu - [y g < rho]). lambda
/// only scales the estimate, and LWK takes 1.
struct NuClassificationRule : AdaptiveRule {
  double nu = 0.1;
  static constexpr std::string_view name = "nu";
  static constexpr std::string_view formula = "max(0, rho - y g) - nu rho";
  static constexpr std::string_view source = "(10.132), sign mended";
  static constexpr auto fields = std::tuple{
      field("nu", &NuClassificationRule::nu, "share of margin errors to aim at", open_fraction)};

  static constexpr double preset_lambda = 1;
  static constexpr double slope_bound = 1;
  double loss(double y, double g, double rho) const {
    return std::max(0.0, rho - y * g) - nu * rho;
  }
  double slope(double y, double g, double rho) const { return y * g < rho ? -y : 0; }
  double width_slope(double y, double g, double rho) const { return (y * g < rho ? 1 : 0) - nu; }
};

}  // namespace maxmargin
