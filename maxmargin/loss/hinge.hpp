#pragma once

#include <algorithm>
#include <array>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * max(0, 1 - y f), y = +1 or -1. An infinite cost allows no margin error at all.
struct Hinge {
  static constexpr std::string_view name = "hinge";
  static constexpr std::tuple<> fields{};

  std::array<Block, 1> blocks(double y, double cost) const { return {{{y, -1, 0, cost, 0}}}; }
  double value(double y, double f, double cost) const { return cost * std::max(0.0, 1 - y * f); }
};

}  // namespace maxmargin
