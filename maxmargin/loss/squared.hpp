#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * (y - f)^2 / 2: kernel ridge regression.
struct Squared {
  static constexpr std::string_view name = "squared";
  static constexpr std::tuple<> fields{};

  std::array<Block, 1> blocks(double y, double cost) const {
    return {{{+1, -y, -infinity, infinity, 1 / cost}}};
  }
  double value(double y, double f, double cost) const { return cost * (y - f) * (y - f) / 2; }
};

}  // namespace maxmargin
