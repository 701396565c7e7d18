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
      const bool has_classes = loss.blocks(1, 1).size() == 1;
      const double y = !has_classes ? rng.uniform(-3, 3) : rng.uniform() < 0.5 ? 1 : -1;
      const double f = rng.uniform(-4, 4), cost = rng.uniform(0.1, 5);
      double sum = 0;
      for (const Block& block : loss.blocks(y, cost)) sum += block.conjugate(-block.sign * f);
      EXPECT_NEAR(sum, loss.value(y, f, cost), 1e-12 * (1 + std::abs(sum))) << loss.name;
    }
  });
}

}  // namespace
}  // namespace maxmargin
