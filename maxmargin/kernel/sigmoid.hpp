#pragma once

#include "maxmargin/base/field.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

struct Sigmoid {
  double gamma = 1;
  double coef0 = 0;
  static constexpr std::string_view name = "sigmoid";
  static constexpr std::string_view formula = "tanh(gamma x'z + coef0)";
  static constexpr auto fields =
      std::tuple{field("gamma", &Sigmoid::gamma, "factor of the dot product", positive),
                 field("coef0", &Sigmoid::coef0, "added to the dot product")};
  Definite definite() const { return Definite::no; }
  Form form() const { return {Pairing::dot, HyperbolicTangent{gamma, coef0}}; }
};

}  // namespace maxmargin
