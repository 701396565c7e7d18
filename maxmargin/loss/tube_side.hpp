#pragma once

#include <cmath>

#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// One side of a tube: the block of an error that costs from `epsilon` on. It knows what the sum
/// is rounded by, which a large cost makes much of.
inline Block tube_side(Block block, double epsilon) {
  const HighLowPair sum = two_sum(epsilon, block.linear);
  block.linear = sum.high;
  block.linear_error = std::abs(sum.low);
  return block;
}

}  // namespace maxmargin
