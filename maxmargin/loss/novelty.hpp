#pragma once

#include <algorithm>
#include <array>

#include "maxmargin/base/field.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// cost * max(0, -f): one-class; the threshold is part of f. Labels do not count. The variables sum
/// to nu times all costs.
struct Novelty {
  double nu = 0.5;
  static constexpr std::string_view name = "novelty";
  static constexpr auto fields =
      std::tuple{field("nu", &Novelty::nu, "share of the rows below the threshold", fraction)};

  std::array<Block, 1> blocks(double, double cost) const { return {{{1, 0, 0, cost, 0}}}; }
  double value(double, double f, double cost) const { return cost * std::max(0.0, -f); }
};

}  // namespace maxmargin
