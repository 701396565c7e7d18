#pragma once

#include <algorithm>
#include <array>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * (max(0, y - f) + max(0, f - y)): nu-SVR. Each side of the tube has a threshold of its
/// own, which is part of f: b + epsilon where f is too low, b - epsilon where it is too high. The
/// variables of each side sum to nu times half of all costs.
struct NuTube {
  double nu = 0.5;
  static constexpr std::string_view name = "nu-tube";
  static constexpr bool by_side = true;
  static constexpr auto fields =
      std::tuple{field("nu", &NuTube::nu, "share of the rows outside of the tube", fraction)};

  std::array<Block, 2> blocks(double y, double cost) const {
    return {{{+1, -y, 0, cost, 0}, {-1, y, 0, cost, 0}}};
  }
  double value(double y, double f, double cost) const {
    return cost * (std::max(0.0, y - f) + std::max(0.0, f - y));
  }
};

}  // namespace maxmargin
