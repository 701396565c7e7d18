#pragma once

#include <algorithm>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The point within the bounds nearest to 0, where solvers start; equality rows may not hold there.
inline std::vector<double> nearest_to_zero(const DualQp& qp) {
  std::vector<double> a;
  for (const Block& block : qp.block) a.push_back(std::clamp(0.0, block.lower, block.upper));
  return a;
}

}  // namespace maxmargin
