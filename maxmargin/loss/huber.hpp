#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// Huber's robust loss, with e = |y - f|: cost * e^2 / (2 sigma) for e < sigma, cost * (e - sigma /
/// 2) beyond.
struct Huber {
  double sigma = 1;
  static constexpr std::string_view name = "huber";
  static constexpr auto fields = std::tuple{
      field("sigma", &Huber::sigma, "errors up to this count squared (huber)", positive)};

  std::array<Block, 1> blocks(double y, double cost) const {
    return {{{+1, -y, -cost, cost, sigma / cost}}};
  }
  double value(double y, double f, double cost) const {
    const double error = std::abs(y - f);
    return cost * (error < sigma ? error * error / (2 * sigma) : error - sigma / 2);
  }
};

}  // namespace maxmargin
