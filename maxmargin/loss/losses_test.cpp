#include "maxmargin/loss/losses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"

namespace maxmargin {
namespace {

// The conjugates of a loss's blocks at -s f add up to the loss: this is all that ties the dual to
// the primal.
TEST(Losses, ConjugatesOfTheBlocksAreTheLoss) {
  Rng rng(1);
  for_each_component<Loss>([&](auto loss) {
    for (int trial = 0; trial < 2000; ++trial) {
      if constexpr (requires { loss.epsilon; }) {
        loss.epsilon = rng.uniform(0, 1);
        loss.over = rng.uniform(0.1, 3);
        loss.under = rng.uniform(0.1, 3);
      }
      const double y = loss.name == "epsilon-insensitive" ? rng.uniform(-3, 3)
                       : rng.uniform() < 0.5              ? 1
                                                          : -1;
      const double f = rng.uniform(-4, 4), cost = rng.uniform(0.1, 5);
      double sum = 0;
      for (const Block& block : loss.blocks(y, cost)) sum += block.conjugate(-block.sign * f);
      EXPECT_NEAR(sum, loss.value(y, f, cost), 1e-12 * (1 + std::abs(sum))) << loss.name;
    }
  });
}

TEST(Block, ConjugateIsTheSupremum) {
  Rng rng(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Block block{1, rng.uniform(-2, 2), -rng.uniform(), rng.uniform(),
                      trial % 2 == 0 ? 0 : rng.uniform(0.1, 3)};
    const double slope = rng.uniform(-4, 4);
    double largest = -infinity;
    for (int i = 0; i <= 1000; ++i) {
      const double t = block.lower + (block.upper - block.lower) * i / 1000;
      largest = std::max(largest, slope * t - block.value(t));
      // Fenchel's inequality, the reason why the gap is never negative.
      EXPECT_GE(block.value(t) + block.conjugate(slope), slope * t - 1e-12);
    }
    EXPECT_NEAR(block.conjugate(slope), largest, 1e-5);
    const double t = block.argmax(slope);
    EXPECT_NEAR(slope * t - block.value(t), block.conjugate(slope), 1e-12);
  }
}

TEST(Block, ConjugateIsInfiniteWithoutABound) {
  const Block hard{1, -1, 0, infinity, 0};
  EXPECT_EQ(hard.conjugate(-0.5), infinity);
  EXPECT_EQ(hard.conjugate(-1), 0);
  EXPECT_EQ(hard.conjugate(-1.5), 0);
  const Block squared{1, -1, 0, infinity, 0.5};
  EXPECT_DOUBLE_EQ(squared.conjugate(0), 1);
}

}  // namespace
}  // namespace maxmargin
