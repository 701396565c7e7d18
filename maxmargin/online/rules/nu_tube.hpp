#pragma once

#include <algorithm>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// Online nu-SVR: the half width of the tube is learned, too, and grows by
/// Lambda ([|y - g| > epsilon] - nu).
struct NuTubeRule : AdaptiveRule {
  double nu = 0.1;
  double epsilon = 0.1;
  static constexpr std::string_view name = "epsilon-nu";
  static constexpr std::string_view formula = "max(0, |y - g| - epsilon) + nu epsilon";
  static constexpr std::string_view source = "(10.137)";
  static constexpr auto fields =
      std::tuple{field("nu", &NuTubeRule::nu, "share of rows outside of the tube", open_fraction),
                 field("epsilon", &NuTubeRule::epsilon, "the tube at the start", non_negative)};

  static constexpr Outcome outcome = Outcome::number;
  static constexpr double slope_bound = 1;
  double first_width() const { return epsilon; }
  double loss(double y, double g, double tube) const {
    return std::max(0.0, std::abs(y - g) - tube) + nu * tube;
  }
  double slope(double y, double g, double tube) const {
    return std::abs(y - g) > tube ? -sign(y - g) : 0;
  }
  double width_slope(double y, double g, double tube) const {
    return nu - (std::abs(y - g) > tube ? 1 : 0);
  }
};

}  // namespace maxmargin
