#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * log(1 + exp(-y f)), y = +1 or -1: kernel logistic regression.
struct Logistic {
  static constexpr std::string_view name = "logistic";
  static constexpr std::tuple<> fields{};

  std::array<Block, 1> blocks(double y, double cost) const {
    Block block{y, 0, 0, cost, 0};
    block.entropy = Entropy::logistic;
    return {{block}};
  }
  double value(double y, double f, double cost) const {
    return cost * (std::max(0.0, -y * f) + std::log1p(std::exp(-std::abs(f))));
  }
};

}  // namespace maxmargin
