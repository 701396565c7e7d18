#pragma once

#include "maxmargin/online/rules/soft_margin.hpp"

namespace maxmargin {

/// The soft margin with the rate 1 / (lambda t), no bias, and each f projected to the ball that has
/// the optimum (where nothing is truncated: then |f| is known).
struct PegasosRule : SoftMarginRule {
  static constexpr std::string_view name = "pegasos";
  static constexpr std::string_view formula =
      "max(0, 1 - y g), rate 1 / (lambda t), |f|^2 <= 1 / lambda";
  static constexpr std::string_view source = "Shalev-Shwartz et al. 2007";
  static constexpr std::tuple<> fields{};

  static constexpr bool projects = true;
};

}  // namespace maxmargin
