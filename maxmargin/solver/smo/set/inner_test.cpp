#include "maxmargin/solver/smo/set/inner.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::inner_test {
namespace {

/// A problem with its kernel values.
struct Made {
  InnerProblem p;
  AlignedVector<float> K;

  /// Groups of these sizes; K holds Gaussians of random points.
  Made(Rng& rng, std::span<const std::size_t> sizes) {
    p.reset(sizes);
    const std::size_t stride = p.positions();
    std::vector<double> x(stride * 3);
    for (double& value : x) value = rng.normal();
    K.assign(stride * stride, 0.0f);
    for (std::size_t g = 0; g < sizes.size(); ++g)
      for (std::size_t k = 0; k < sizes[g]; ++k) fill(p.begin[g] + k, x);
  }

  void fill(std::size_t i, const std::vector<double>& x) {
    for (std::size_t j = 0; j < p.positions(); ++j) {
      double distance = 0;
      for (std::size_t k = 0; k < 3; ++k)
        distance += (x[i * 3 + k] - x[j * 3 + k]) * (x[i * 3 + k] - x[j * 3 + k]);
      K[i * p.positions() + j] = static_cast<float>(std::exp(-distance));
    }
    p.curvature[i] = i % 3 == 0 ? 0.5 : 0;
    p.diagonal[i] = 1 + p.curvature[i];
    p.row[i] = K.data() + i * p.positions();
    p.variable[i][0] = {0, i % 2 == 0 ? 0.0 : -1.0, i % 2 == 0 ? 1.0 : 0.0};
    p.negative_gradient[i] = i % 2 == 0 ? 1 : -1;  // beta = 0
  }
};

void expect_solved(std::span<const std::size_t> sizes, Rng& rng) {
  Made made(rng, sizes);
  InnerProblem& p = made.p;
  const AlignedVector<double> start = p.negative_gradient;
  const InnerResult result = solve_inner(p, 1e-9, 1000000);
  EXPECT_LE(result.violation, 1e-9);
  double worst = -1e300;
  for (std::size_t g = 0; g < sizes.size(); ++g) {
    double sum = 0, highest = -1e300, lowest = 1e300;
    for (std::size_t i = p.begin[g]; i < p.begin[g] + sizes[g]; ++i) {
      const InnerProblem::Variable& own = p.variable[i][0];
      sum += own.beta;
      EXPECT_GE(own.beta, own.lower);
      EXPECT_LE(own.beta, own.upper);
      // The gradient that were carried along are those of the final point.
      double negative_gradient = start[i] - p.curvature[i] * own.beta;
      for (std::size_t j = 0; j < p.positions(); ++j)
        negative_gradient -=
            static_cast<double>(made.K[i * p.positions() + j]) * p.variable[j][0].beta;
      EXPECT_NEAR(negative_gradient, p.negative_gradient[i], 1e-6);
      if (own.beta < own.upper) highest = std::max(highest, p.negative_gradient[i]);
      if (own.beta > own.lower) lowest = std::min(lowest, p.negative_gradient[i]);
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    worst = std::max(worst, highest - lowest);
  }
  EXPECT_NEAR(std::max(0.0, worst), std::max(0.0, result.violation), 1e-12);
}

TEST(InnerSolver, EndsAtThePointWhereNoPairCanMove) {
  Rng rng(1);
  for (const std::size_t size : {2, 5, 16, 33, 200}) expect_solved(std::array{size}, rng);
}

TEST(InnerSolver, MovesPairsWithinTheirGroupOnly) {
  Rng rng(3);
  expect_solved(std::array<std::size_t, 2>{40, 7}, rng);
  expect_solved(std::array<std::size_t, 3>{33, 64, 2}, rng);
}

TEST(InnerSolver, KeepsToItsStepLimit) {
  Rng rng(2);
  Made made(rng, std::array<std::size_t, 1>{64});
  EXPECT_EQ(solve_inner(made.p, 0, 7).steps, 7u);
}

// The sides of a tube: two variables at one position, or at two positions whose rows are the same.
TEST(InnerSolver, TwoVariablesOfAPlaceEndWhereThoseOfTwoPlacesDo) {
  Rng rng(5);
  constexpr std::size_t points = 45;
  Made together(rng, std::array{points});
  const std::size_t stride = together.p.positions();
  InnerProblem apart;
  apart.reset(std::array{2 * points});
  AlignedVector<float> K(apart.positions() * apart.positions(), 0.0f);
  for (std::size_t i = 0; i < points; ++i) {
    const double y = rng.normal();
    together.p.curvature[i] = 0;
    together.p.diagonal[i] = 1;
    together.p.negative_gradient[i] = 0;
    together.p.variable[i] = {{{0, 0, 2, y - 0.1}, {0, -2, 0, y + 0.1}}};
    for (const std::size_t side : {0, 1}) {
      const std::size_t at = 2 * i + side;
      float* row = K.data() + at * apart.positions();
      for (std::size_t j = 0; j < 2 * points; ++j) row[j] = together.K[i * stride + j / 2];
      apart.row[at] = row;
      apart.diagonal[at] = 1;
      apart.variable[at][0] = together.p.variable[i][side];
    }
  }
  const InnerResult one = solve_inner(together.p, 1e-9, 1000000);
  const InnerResult two = solve_inner(apart, 1e-9, 1000000);
  EXPECT_LE(one.violation, 1e-9);
  EXPECT_GT(one.decrease, 1);
  EXPECT_NEAR(one.decrease, two.decrease, 1e-9);
  for (std::size_t i = 0; i < points; ++i)
    EXPECT_NEAR(together.p.negative_gradient[i], apart.negative_gradient[2 * i], 1e-6);
}

}  // namespace
}  // namespace maxmargin::inner_test
