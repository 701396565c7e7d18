#pragma once

#include "maxmargin/online/rules/soft_margin.hpp"

namespace maxmargin {

/// Pegasos (Shalev-Shwartz, Singer and Srebro 2007): the soft margin with the rate 1 / (lambda t),
/// no bias, and f projected to the ball of radius lambda^-1/2, in which the optimum lies. With
/// truncation |f| is not known, and f is not projected.
struct PegasosRule : SoftMarginRule {
  static constexpr std::string_view name = "pegasos";
  static constexpr std::string_view formula =
      "max(0, 1 - y g), rate 1 / (lambda t), |f|^2 <= 1 / lambda";
  static constexpr std::string_view source = "Shalev-Shwartz et al. 2007";
  static constexpr std::tuple<> fields{};

  static constexpr bool projects = true;
};

}  // namespace maxmargin
