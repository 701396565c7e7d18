#include "maxmargin/solver/smo/inner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"

namespace maxmargin {
namespace {

InnerProblem made(Rng& rng, std::size_t size) {
  InnerProblem p(size);
  std::vector<double> x(size * 3);
  for (double& value : x) value = rng.normal();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      double distance = 0;
      for (std::size_t k = 0; k < 3; ++k)
        distance += (x[i * 3 + k] - x[j * 3 + k]) * (x[i * 3 + k] - x[j * 3 + k]);
      p.K[i * p.stride + j] = static_cast<float>(std::exp(-distance));
    }
    p.curvature[i] = i % 3 == 0 ? 0.5 : 0;
    p.diagonal[i] = 1 + p.curvature[i];
    p.lower[i] = i % 2 == 0 ? 0 : -1;
    p.upper[i] = i % 2 == 0 ? 1 : 0;
    p.level[i] = i % 2 == 0 ? 1 : -1;  // beta = 0
  }
  return p;
}

TEST(InnerSolver, EndsAtThePointWhereNoPairCanMove) {
  Rng rng(1);
  for (const std::size_t size : {2, 5, 16, 33, 200}) {
    InnerProblem p = made(rng, size);
    const AlignedVector<double> start = p.level;
    const InnerResult result = solve_inner(p, 1e-9, 1000000);
    EXPECT_LE(result.violation, 1e-9);
    double sum = 0, highest = -1e300, lowest = 1e300;
    for (std::size_t i = 0; i < size; ++i) {
      sum += p.beta[i];
      EXPECT_GE(p.beta[i], p.lower[i]);
      EXPECT_LE(p.beta[i], p.upper[i]);
      // The levels that were carried along are those of the final point.
      double level = start[i] - p.curvature[i] * p.beta[i];
      for (std::size_t j = 0; j < size; ++j)
        level -= static_cast<double>(p.K[i * p.stride + j]) * p.beta[j];
      EXPECT_NEAR(level, p.level[i], 1e-6);
      if (p.beta[i] < p.upper[i]) highest = std::max(highest, p.level[i]);
      if (p.beta[i] > p.lower[i]) lowest = std::min(lowest, p.level[i]);
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_NEAR(std::max(0.0, highest - lowest), std::max(0.0, result.violation), 1e-12);
  }
}

TEST(InnerSolver, KeepsToItsStepLimit) {
  Rng rng(2);
  InnerProblem p = made(rng, 64);
  EXPECT_EQ(solve_inner(p, 0, 7).steps, 7u);
}

}  // namespace
}  // namespace maxmargin
