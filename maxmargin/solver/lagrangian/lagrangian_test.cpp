#include "maxmargin/solver/lagrangian/lagrangian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::lagrangian_test {
namespace {

const Threads& crew() {
  static const Threads two(2);
  return two;
}

std::shared_ptr<LowRank> random_points(std::size_t points, std::size_t rank, std::uint64_t seed) {
  Rng rng(seed);
  auto Z = std::make_shared<LowRank>(points, rank);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < rank; ++j) Z->row(i)[j] = rng.normal();
  return Z;
}

/// Squared hinge or squared tube over Z Z' + 1, costs that differ.
DualQp problem(std::shared_ptr<const Quadratic> K, const LowRank& Z, bool tube, double cost) {
  Rng rng(5);
  DualQp qp;
  qp.K = std::move(K);
  for (std::size_t i = 0; i < Z.points(); ++i) {
    const double own = cost * rng.uniform(0.5, 2), value = Z.row(i)[0] + rng.normal();
    if (tube) {
      for (const double sign : {1.0, -1.0}) {
        qp.block.push_back({sign, 0.1 - sign * value, 0, infinity, 1 / (2 * own)});
        qp.row.push_back(static_cast<Index>(i));
      }
    } else {
      qp.block.push_back({value > 0 ? 1.0 : -1.0, -1, 0, infinity, 1 / (2 * own)});
      qp.row.push_back(static_cast<Index>(i));
    }
  }
  return qp;
}

std::shared_ptr<const Quadratic> written_out(const LowRank& Z) {
  std::vector<double> K(Z.points() * Z.points(), 0.0);
  for (std::size_t i = 0; i < Z.points(); ++i)
    for (std::size_t j = 0; j < Z.points(); ++j)
      for (std::size_t k = 0; k < Z.rank(); ++k) K[i * Z.points() + j] += Z.row(i)[k] * Z.row(j)[k];
  return std::make_shared<DenseQuadratic>(Z.points(), std::move(K));
}

Lagrangian precise(double gap = 1e-10) {
  Lagrangian options;
  options.stop.kkt = 1e-9;
  options.stop.relative_gap = gap;
  return options;
}

// Kernel form, linear form and the interior point method have the same optimum.
TEST(Lagrangian, FindsTheOptimumOfOtherSolvers) {
  for (const bool tube : {false, true})
    for (const double cost : {0.01, 1.0, 100.0}) {
      SCOPED_TRACE(std::to_string(cost) + (tube ? " tube" : " hinge"));
      const auto Z = random_points(150, 4, 3);
      const DualQp low_rank = problem(make_biased(make_low_rank_quadratic(Z)), *Z, tube, cost);
      const DualQp full = problem(make_biased(written_out(*Z)), *Z, tube, cost);
      // Variables grow with the cost and cancel in f: sums of 150 of them in double are known to
      // 2e-14 of their sizes, which is 1e-8 of the objective for the largest.
      const double gap = cost > 1 ? 2e-8 : 1e-10;
      InteriorPoint path;
      path.stop = precise(gap).stop;
      const Certified expected = solve(full, path, crew());
      ASSERT_EQ(expected.solution.ended, Ended::converged);
      for (const DualQp* qp : {&low_rank, &full}) {
        const Certified result = solve(*qp, precise(gap), crew());
        EXPECT_EQ(result.solution.ended, Ended::converged) << result.certificate.kkt;
        // Two enclosures of one optimum overlap, and each is as narrow as was asked for.
        EXPECT_LE(result.certificate.dual, expected.certificate.primal);
        EXPECT_LE(expected.certificate.dual, result.certificate.primal);
        EXPECT_LE(result.certificate.relative_gap, gap);
        for (std::size_t v = 0; v < qp->size(); ++v)
          EXPECT_NEAR(result.solution.a[v], expected.solution.a[v], 1e-6 * cost);
      }
    }
}

// (10.110) by the double loop.
TEST(Lagrangian, EndsAtTheFixedPointOfTheFormula) {
  const auto Z = random_points(12, 2, 4);
  const DualQp qp = problem(make_low_rank_quadratic(Z), *Z, false, 1);
  Lagrangian options = precise();
  options.stop.iterations = 60;
  const Certified result = solve(qp, options, crew());
  // At the fixed point Qa + p = ((Qa + p) - gamma c a)_+.
  for (std::size_t v = 0; v < qp.size(); ++v) {
    double gradient = qp.block[v].linear + qp.block[v].curvature * result.solution.a[v];
    for (std::size_t w = 0; w < qp.size(); ++w)
      for (std::size_t k = 0; k < 2; ++k)
        gradient += qp.block[v].sign * qp.block[w].sign * Z->row(v)[k] * Z->row(w)[k] *
                    result.solution.a[w];
    const double next =
        std::max(0.0, gradient - 1.9 * qp.block[v].curvature * result.solution.a[v]);
    EXPECT_NEAR(gradient, next, 1e-8);
  }
}

TEST(Lagrangian, RefusesWhatItCannotSolve) {
  const auto Z = random_points(12, 2, 4);
  DualQp qp = problem(make_low_rank_quadratic(Z), *Z, false, 1);
  EXPECT_FALSE(refuses(qp, Lagrangian{}));
  DualQp bounded = qp;
  bounded.block[3].upper = 1;
  EXPECT_TRUE(refuses(bounded, Lagrangian{}));
  DualQp flat = qp;
  flat.block[3].curvature = 0;
  EXPECT_TRUE(refuses(flat, Lagrangian{}));
  qp.A.emplace_back(qp.size(), 1.0);
  qp.d.push_back(0);
  EXPECT_TRUE(refuses(qp, Lagrangian{}));
}

// Theorem 10.7: beyond 2 it need not converge.
TEST(Lagrangian, EnforcesTheConditionOfConvergence) {
  const auto Z = random_points(12, 2, 4);
  const DualQp qp = problem(make_low_rank_quadratic(Z), *Z, false, 1);
  Lagrangian options;
  options.relaxation = 2;
  EXPECT_THROW(solve(qp, options, crew()), Error);
}

TEST(Lagrangian, ThreadsDoNotChangeOneBit) {
  const auto Z = random_points(9000, 3, 4);
  const DualQp qp = problem(make_biased(make_low_rank_quadratic(Z)), *Z, true, 1);
  const Threads one(1), three(3);
  EXPECT_EQ(solve(qp, Lagrangian{}, one).solution.a, solve(qp, Lagrangian{}, three).solution.a);
}

TEST(Lagrangian, KeepsToLimits) {
  const auto Z = random_points(200, 3, 4);
  const DualQp qp = problem(make_biased(make_low_rank_quadratic(Z)), *Z, false, 100);
  Lagrangian options = precise();
  options.stop.iterations = 2;
  EXPECT_EQ(solve(qp, options, crew()).solution.ended, Ended::iteration_limit);
  options.stop.iterations = 1000000;
  options.stop.seconds = 0;
  EXPECT_EQ(solve(qp, options, crew()).solution.ended, Ended::time_limit);
}

}  // namespace
}  // namespace maxmargin::lagrangian_test
