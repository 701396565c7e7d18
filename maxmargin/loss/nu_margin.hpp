#pragma once

#include <algorithm>
#include <array>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * max(0, -y f), y = +1 or -1: nu-SVC. Each side has a threshold of its own, which is part
/// of f: b - rho for the rows of +1, b + rho for those of -1. The variables of each side sum to nu
/// times half of all costs.
struct NuMargin {
  double nu = 0.5;
  static constexpr std::string_view name = "nu-margin";
  static constexpr bool by_side = true;
  static constexpr auto fields =
      std::tuple{field("nu", &NuMargin::nu, "share of the rows within the margin", fraction)};

  std::array<Block, 1> blocks(double y, double cost) const { return {{{y, 0, 0, cost, 0}}}; }
  double value(double y, double f, double cost) const { return cost * std::max(0.0, -y * f); }
};

}  // namespace maxmargin
