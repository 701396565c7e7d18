#pragma once

#include <array>

#include "maxmargin/base/named.hpp"

namespace maxmargin {

/// Whether f has a constant b, and what it costs: nothing, b^2 / 2, or there is none.
enum class Bias { unpenalised, penalised, none };

template <>
struct Named<Bias> {
  static constexpr std::array<std::pair<Bias, std::string_view>, 3> values{
      {{Bias::unpenalised, "unpenalised"}, {Bias::penalised, "penalised"}, {Bias::none, "none"}}};
};

}  // namespace maxmargin
