#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * (tau * max(0, y - f) + (1 - tau) * max(0, f - y)): f is the tau-quantile of y given x.
struct Pinball {
  double tau = 0.5;
  static constexpr std::string_view name = "pinball";
  static constexpr auto fields =
      std::tuple{field("tau", &Pinball::tau, "the quantile to estimate (pinball)", open_fraction)};

  std::array<Block, 1> blocks(double y, double cost) const {
    return {{{+1, -y, -(1 - tau) * cost, tau * cost, 0}}};
  }
  double value(double y, double f, double cost) const {
    return cost * (tau * std::max(0.0, y - f) + (1 - tau) * std::max(0.0, f - y));
  }
};

}  // namespace maxmargin
