#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * max(0, 1 - y f)^2, y = +1 or -1.
struct SquaredHinge {
  static constexpr std::string_view name = "squared-hinge";
  static constexpr std::tuple<> fields{};

  std::array<Block, 1> blocks(double y, double cost) const {
    return {{{y, -1, 0, infinity, 1 / (2 * cost)}}};
  }
  double value(double y, double f, double cost) const {
    const double error = std::max(0.0, 1 - y * f);
    return cost * error * error;
  }
};

}  // namespace maxmargin
