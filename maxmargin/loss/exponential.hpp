#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * exp(-y f), y = +1 or -1: what boosting minimises.
struct Exponential {
  static constexpr std::string_view name = "exponential";
  static constexpr std::tuple<> fields{};

  std::array<Block, 1> blocks(double y, double cost) const {
    Block block{y, 0, 0, infinity, 0};
    block.entropy = Entropy::exponential;
    block.scale = cost;
    return {{block}};
  }
  double value(double y, double f, double cost) const { return cost * std::exp(-y * f); }
};

}  // namespace maxmargin
