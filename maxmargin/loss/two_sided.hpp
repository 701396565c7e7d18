#pragma once

#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// Both halves of a regression's blocks where errors cost `under` if f is too small and `over` if
/// it is too large: what pulls f up with the one, and what pulls it down with the other. Always
/// two; one without a cost is closed at 0.
template <class Chosen, class Add>
void add_two_sided(const Chosen& loss, double y, double under, double over, Add&& add) {
  for (const bool up : {true, false}) {
    const double cost = up ? under : over;
    for (Block block : loss.blocks(y, cost > 0 ? cost : up ? over : under)) {
      if (block.lower < 0) {
        if (up) block.lower = 0;
        if (!up) block = {-block.sign, -block.linear, 0, -block.lower, block.curvature};
      } else if ((block.sign > 0) != up) {
        continue;
      }
      if (!(cost > 0)) block.upper = 0;
      add(block);
    }
  }
}

}  // namespace maxmargin
