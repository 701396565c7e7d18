#pragma once

#include <array>

#include "maxmargin/base/named.hpp"

namespace maxmargin {

enum class Outcome { classes, number, novelty };  ///< what a model predicts

template <>
struct Named<Outcome> {
  static constexpr std::array<std::pair<Outcome, std::string_view>, 3> values{
      {{Outcome::classes, "classes"}, {Outcome::number, "number"}, {Outcome::novelty, "novelty"}}};
};

}  // namespace maxmargin
