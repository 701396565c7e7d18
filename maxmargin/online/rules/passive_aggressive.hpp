#pragma once

#include <algorithm>

#include "maxmargin/base/field.hpp"
#include "maxmargin/online/rule.hpp"

namespace maxmargin {

/// PA-I (Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006): the smallest change of f with
/// which the row has the margin 1, with a coefficient of at most C. No rate, no decay.
struct PassiveAggressiveRule : OnlineRule {
  double aggressiveness = 1;
  static constexpr std::string_view name = "passive-aggressive";
  static constexpr std::string_view formula = "alpha_t = y min(C, max(0, 1 - y g) / k(x,x))";
  static constexpr std::string_view source = "Crammer et al. 2006, PA-I";
  static constexpr auto fields =
      std::tuple{field("aggressiveness", &PassiveAggressiveRule::aggressiveness,
                       "C, the longest step of passive-aggressive rules", positive)};

  static constexpr bool decays = false;
  static constexpr double preset_lambda = 0;
  double loss(double y, double g, double) const { return std::max(0.0, 1 - y * g); }
  /// The coefficient alpha_t of the row; `self` is k(x,x), with a bias k(x,x) + 1.
  double step(double y, double g, double self) const {
    const double error = loss(y, g, 0);
    return self > 0 ? y * std::min(aggressiveness, error / self) : 0;
  }
};

}  // namespace maxmargin
