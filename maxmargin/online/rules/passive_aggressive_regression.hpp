#pragma once

#include <algorithm>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// PA-I for regression: the smallest change of f with which y lies in the tube of half width
/// epsilon, with a coefficient of at most C.
struct PassiveAggressiveRegressionRule : OnlineRule {
  double aggressiveness = 1;
  double epsilon = 0.1;
  static constexpr std::string_view name = "passive-aggressive-regression";
  static constexpr std::string_view formula =
      "alpha_t = sgn(r) min(C, max(0, |r| - epsilon) / k(x,x)), r = y - g";
  static constexpr std::string_view source = "Crammer et al. 2006, PA-I";
  static constexpr auto fields = std::tuple{
      field("aggressiveness", &PassiveAggressiveRegressionRule::aggressiveness,
            "C, the longest step of passive-aggressive rules", positive),
      field("epsilon", &PassiveAggressiveRegressionRule::epsilon, "the tube", non_negative)};

  static constexpr Outcome outcome = Outcome::number;
  static constexpr bool decays = false;
  static constexpr double preset_lambda = 0;
  double loss(double y, double g, double) const { return std::max(0.0, std::abs(y - g) - epsilon); }
  double step(double y, double g, double self) const {
    return self > 0 ? sign(y - g) * std::min(aggressiveness, loss(y, g, 0) / self) : 0;
  }
};

}  // namespace maxmargin
