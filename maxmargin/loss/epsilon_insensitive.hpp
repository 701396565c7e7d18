#pragma once

#include <algorithm>
#include <array>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/tube_side.hpp"

namespace maxmargin {

/// cost * (under * max(0, y - f - epsilon) + over * max(0, f - y - epsilon)).
struct EpsilonInsensitive {
  double epsilon = 0.1;
  double over = 1;
  double under = 1;
  static constexpr std::string_view name = "epsilon-insensitive";
  static constexpr auto fields = std::tuple{
      field("epsilon", &EpsilonInsensitive::epsilon, "half width of the tube", non_negative),
      field("over", &EpsilonInsensitive::over, "factor of the cost of over-prediction", positive),
      field("under", &EpsilonInsensitive::under, "factor of the cost of under-prediction",
            positive)};

  std::array<Block, 2> blocks(double y, double cost) const {
    return {{tube_side({+1, -y, 0, under * cost, 0}, epsilon),
             tube_side({-1, y, 0, over * cost, 0}, epsilon)}};
  }
  double value(double y, double f, double cost) const {
    return cost * (under * std::max(0.0, y - f - epsilon) + over * std::max(0.0, f - y - epsilon));
  }
};

}  // namespace maxmargin
