#pragma once

#include "maxmargin/online/rules/perceptron.hpp"

namespace maxmargin {

/// The perceptron with regularisation: f decays at every step.
struct RegularisedPerceptronRule : PerceptronRule {
  static constexpr std::string_view name = "regularised-perceptron";
  static constexpr std::string_view formula = "max(0, -y g), lambda > 0";
  static constexpr std::string_view source = "(10.133)";
  static constexpr std::tuple<> fields{};

  static constexpr bool decays = true;
  static constexpr double preset_lambda = 1e-4;
};

}  // namespace maxmargin
