#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/tube_side.hpp"

namespace maxmargin {

/// cost * (under * max(0, y - f - epsilon)^2 + over * max(0, f - y - epsilon)^2).
struct SquaredEpsilonInsensitive {
  double epsilon = 0.1;
  double over = 1;
  double under = 1;
  static constexpr std::string_view name = "squared-epsilon-insensitive";
  static constexpr auto fields = std::tuple{
      field("epsilon", &SquaredEpsilonInsensitive::epsilon, "half width of the tube", non_negative),
      field("over", &SquaredEpsilonInsensitive::over, "factor of the cost of over-prediction",
            positive),
      field("under", &SquaredEpsilonInsensitive::under, "factor of the cost of under-prediction",
            positive)};

  std::array<Block, 2> blocks(double y, double cost) const {
    return {{tube_side({+1, -y, 0, infinity, 1 / (2 * under * cost)}, epsilon),
             tube_side({-1, y, 0, infinity, 1 / (2 * over * cost)}, epsilon)}};
  }
  double value(double y, double f, double cost) const {
    const double low = std::max(0.0, y - f - epsilon), high = std::max(0.0, f - y - epsilon);
    return cost * (under * low * low + over * high * high);
  }
};

}  // namespace maxmargin
