#include "maxmargin/structured/solvers/plane_blocks.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/enumerated_structures.hpp"

namespace maxmargin::plane_blocks_test {
namespace {

/// Structures of which all but the truth have the same features, but for so much.
enumerated::TableOracle nearly_equal(std::size_t examples, double apart, std::uint64_t seed) {
  enumerated::TableOracle oracle(examples, 5, 7, 1, seed);
  for (std::size_t i = 0; i < examples; ++i)
    for (std::size_t y = 2; y < 5; ++y) {
      for (std::size_t j = 0; j < 7; ++j)
        oracle.features_[i][y][j] = oracle.features_[i][1][j] + apart * oracle.features_[i][y][j];
      oracle.losses_[i][y] = oracle.losses_[i][1];
    }
  return oracle;
}

TEST(PlaneBlocks, StepsThatOnlyRoundingMakesStayWithinTheBounds) {
  const Threads threads(1);
  CostModel costs;
  costs.structured.few_dimensions = 0;
  for (const double apart : {0.0, 1e-15}) {
    SCOPED_TRACE(apart);
    const auto oracle = nearly_equal(200, apart, 3);
    const Structured problem{oracle, 200, Rescaling::margin, Slack::linear};
    PlaneBlocks blocks(problem, {}, costs);
    std::vector<std::size_t> all(oracle.examples());
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (int pass = 0; pass < 30; ++pass) {
      const std::vector<Structure> found = blocks.exact_pass(threads).violators;
      blocks.visit(all, pass % 2 == 0 ? found : std::vector<Structure>{}, threads);
      for (const auto& planes : blocks.planes()) {
        double sum = 0;
        for (const Plane& plane : planes) {
          ASSERT_GE(plane.alpha, 0) << "pass " << pass;
          sum += plane.alpha;
        }
        ASSERT_LE(sum, problem.capacity() * (1 + 1e-12)) << "pass " << pass;
      }
    }
  }
}

}  // namespace
}  // namespace maxmargin::plane_blocks_test
