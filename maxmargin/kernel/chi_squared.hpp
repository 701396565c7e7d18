#pragma once

#include "maxmargin/base/field.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

struct ChiSquared {
  double gamma = 1;
  static constexpr std::string_view name = "chi-squared";
  static constexpr std::string_view formula = "exp(-gamma sum (x-z)^2/(x+z)), x and z >= 0";
  static constexpr auto fields =
      std::tuple{field("gamma", &ChiSquared::gamma, "inverse width", positive)};
  Definite definite() const { return Definite::yes; }
  Form form() const { return {Pairing::chi_squared, Decay{gamma}}; }
};

}  // namespace maxmargin
