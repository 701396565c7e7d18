#pragma once

#include "maxmargin/base/field.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

struct Rbf {
  double gamma = 1;
  static constexpr std::string_view name = "rbf";
  static constexpr std::string_view formula = "exp(-gamma |x-z|^2)";
  static constexpr auto fields =
      std::tuple{field("gamma", &Rbf::gamma, "inverse squared width", positive)};
  Definite definite() const { return Definite::yes; }
  Form form() const { return {Pairing::squared_euclidean, Decay{gamma}}; }
};

}  // namespace maxmargin
