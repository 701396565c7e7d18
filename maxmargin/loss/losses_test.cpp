#include "maxmargin/loss/losses.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::losses_test {
namespace {

// The conjugates of a loss's blocks at -s f add up to the loss: this is all that ties the dual to
// the primal.
TEST(Losses, ConjugatesOfTheBlocksAreTheLoss) {
  Rng rng(1);
  for_each_component<Loss>([&](auto loss) {
    for (int trial = 0; trial < 2000; ++trial) {
      for_each_field(loss, [&](const auto& declared, double& value) {
        value = rng.uniform(0.1, declared.range.high < 2 ? 0.9 : 3);
      });
      const bool has_labels = loss.blocks(2, 1)[0].sign == 2;
      const double y = !has_labels ? rng.uniform(-3, 3) : rng.uniform() < 0.5 ? 1 : -1;
      const double f = rng.uniform(-4, 4), cost = rng.uniform(0.1, 5);
      double sum = 0;
      for (const Block& block : loss.blocks(y, cost)) sum += block.conjugate(-block.sign * f);
      EXPECT_NEAR(sum, loss.value(y, f, cost), 1e-12 * (1 + std::abs(sum))) << loss.name;
    }
  });
}

// slope() and bend() are the derivatives of value(), and argmax() is where slope() is the argument.
TEST(Losses, DerivativesOfTheBlocksAreThoseOfTheirValue) {
  for_each_component<Loss>([&](auto loss) {
    for (const Block& block : loss.blocks(1, 2)) {
      const double low = std::max(block.lower, -1.0), high = std::min(block.upper, 1.0);
      for (const double share : {0.2, 0.5, 0.8}) {
        const double t = low + share * (high - low), h = 1e-5;
        EXPECT_NEAR(block.slope(t), (block.value(t + h) - block.value(t - h)) / (2 * h), 1e-6)
            << loss.name;
        EXPECT_NEAR(block.bend(t), (block.slope(t + h) - block.slope(t - h)) / (2 * h), 1e-6)
            << loss.name;
        if (block.bend(t) > 0) {
          EXPECT_NEAR(block.argmax(block.slope(t)), t, 1e-12) << loss.name;
        }
      }
    }
  });
}

}  // namespace
}  // namespace maxmargin::losses_test
