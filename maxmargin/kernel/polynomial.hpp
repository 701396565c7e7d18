#pragma once

#include "maxmargin/base/field.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

struct Polynomial {
  double gamma = 1;
  int degree = 3;
  double coef0 = 0;
  static constexpr std::string_view name = "polynomial";
  static constexpr std::string_view formula = "(gamma x'z + coef0)^degree";
  static constexpr auto fields = std::tuple{
      field("gamma", &Polynomial::gamma, "factor of the dot product", positive),
      field("degree", &Polynomial::degree, "power", Range{1, 100, false, false, "from 1 to 100"}),
      field("coef0", &Polynomial::coef0, "added to the dot product")};
  /// With a negative coef0 the expansion has negative terms.
  Definite definite() const { return coef0 >= 0 ? Definite::yes : Definite::no; }
  Form form() const { return {Pairing::dot, Power{gamma, coef0, degree}}; }
};

}  // namespace maxmargin
