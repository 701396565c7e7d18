#pragma once

#include "maxmargin/base/field.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

struct Laplacian {
  double gamma = 1;
  static constexpr std::string_view name = "laplacian";
  static constexpr std::string_view formula = "exp(-gamma |x-z|_1)";
  static constexpr auto fields =
      std::tuple{field("gamma", &Laplacian::gamma, "inverse width", positive)};
  Definite definite() const { return Definite::yes; }
  Form form() const { return {Pairing::manhattan, Decay{gamma}}; }
};

}  // namespace maxmargin
