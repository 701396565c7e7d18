#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// The hinge with its corner rounded over a width sigma, with e = 1 - y f: cost * e^2 / (2 sigma)
/// for 0 < e < sigma, cost * (e - sigma / 2) beyond.
struct HuberisedHinge {
  double sigma = 0.5;
  static constexpr std::string_view name = "huberised-hinge";
  static constexpr auto fields = std::tuple{
      field("sigma", &HuberisedHinge::sigma, "width of the huberised hinge's corner", positive)};

  std::array<Block, 1> blocks(double y, double cost) const {
    return {{{y, -1, 0, cost, sigma / cost}}};
  }
  double value(double y, double f, double cost) const {
    const double error = std::max(0.0, 1 - y * f);
    return cost * (error < sigma ? error * error / (2 * sigma) : error - sigma / 2);
  }
};

}  // namespace maxmargin
