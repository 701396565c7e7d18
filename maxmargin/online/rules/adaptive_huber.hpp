#pragma once

#include <cmath>

#include "maxmargin/online/rules/huber.hpp"

namespace maxmargin {

/// Huber's loss with a sigma that estimates the (1 - nu) quantile of the errors by stochastic
/// approximation, as (10.136) does the tube. The step in sigma is no gradient step of the loss.
struct AdaptiveHuberRule : HuberRule {
  double nu = 0.1;
  static constexpr std::string_view name = "adaptive-huber";
  static constexpr std::string_view formula = "as huber; sigma + Lambda ([|y - g| > sigma] - nu)";
  static constexpr std::string_view source = "(10.140), factor mended";
  static constexpr auto fields = std::tuple{
      field("sigma", &HuberRule::sigma, "errors up to this count squared, at the start", positive),
      field("nu", &AdaptiveHuberRule::nu, "share of rows with errors beyond sigma", open_fraction)};

  static constexpr bool adaptive = true;
  static constexpr bool convex = false;
  double width_slope(double y, double g, double width) const {
    return nu - (std::abs(y - g) > width ? 1 : 0);
  }
};

}  // namespace maxmargin
