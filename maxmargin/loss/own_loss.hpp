#pragma once

#include <array>
#include <memory>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * c(z) for a convex c of the user's own, which comes from C++: z = y f for classes, f - y
/// for numbers. phi(t) = cost c*(-t / cost), and -y t beside it for numbers.
struct OwnLoss {
  std::shared_ptr<const ConvexCost> own = log_cosh();
  bool of_margins = true;  ///< z = y f
  static constexpr std::string_view name = "own";
  static constexpr std::tuple<> fields{};

  std::array<Block, 1> blocks(double y, double cost) const {
    Block block{of_margins ? y : 1, of_margins ? 0 : -y, -cost * own->most_slope,
                -cost * own->least_slope, 0};
    block.entropy = Entropy::own;
    block.scale = cost;
    block.own = own.get();
    return {{block}};
  }
  double value(double y, double f, double cost) const {
    return cost * own->value(of_margins ? y * f : f - y);
  }
};

}  // namespace maxmargin
