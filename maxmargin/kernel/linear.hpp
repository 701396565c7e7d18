#pragma once

#include <string_view>
#include <tuple>

#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

struct Linear {
  static constexpr std::string_view name = "linear";
  static constexpr std::string_view formula = "x'z";
  static constexpr std::tuple<> fields{};
  Definite definite() const { return Definite::yes; }
  Form form() const { return {Pairing::dot, Identity{}}; }
};

}  // namespace maxmargin
