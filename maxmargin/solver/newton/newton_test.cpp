#include "maxmargin/solver/newton/newton.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/newton/direction.hpp"
#include "maxmargin/solver/newton/reweighted.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/noisy_machine.hpp"

namespace maxmargin::newton_test {
namespace {

using made::Cost;

DualQp machine(Cost cost, const Kernel& kernel, std::size_t size, std::size_t rows) {
  return made::machine({cost, size, rows, 4, 2, kernel});
}

constexpr Cost all_costs[] = {Cost::hinge, Cost::squared_hinge, Cost::huberised, Cost::logistic,
                              Cost::tube};

TEST(Newton, FindsTheOptimumOfEveryLossByPointsAndByColumnsWithAnyRows) {
  for (const Cost cost : all_costs)
    for (const Kernel& kernel : {Kernel(Rbf{0.3}), Kernel(Linear{})})
      for (const std::size_t rows : {0u, 1u, 3u})
        for (const int dense : {4000, 0}) {
          if (std::holds_alternative<Linear>(kernel) && dense == 0) continue;
          if (dense == 0 && (cost == Cost::hinge || cost == Cost::tube)) continue;
          SCOPED_TRACE(std::to_string(static_cast<int>(cost)) + " " + std::string(name_of(kernel)) +
                       " " + std::to_string(rows) + " " + std::to_string(dense));
          const DualQp qp = machine(cost, kernel, 50, rows);
          PrimalNewton options;
          options.dense = dense;
          options.stop.kkt = 1e-5;
          const double asked = cost == Cost::hinge || cost == Cost::tube ? 1e-5 : 1e-6;
          options.stop.relative_gap = asked;
          const Certified found = solve(qp, options, Threads(1));
          EXPECT_EQ(found.solution.ended, Ended::converged);
          EXPECT_LE(found.certificate.relative_gap, asked);
          EXPECT_LE(found.certificate.kkt, 1e-5);
          EXPECT_LE(found.certificate.equality_residual, 1e-9);
        }
}

double primal(const DualQp& qp, const Directions& directions, const PrimalPoint& at) {
  double sum = directions.product(at, at) / 2;
  for (std::size_t r = 0; r < qp.A.size(); ++r) sum += qp.d[r] * at.lambda[r];
  for (std::size_t v = 0; v < qp.size(); ++v) {
    double h = qp.block[v].sign * at.f[qp.row[v]];
    for (std::size_t r = 0; r < qp.A.size(); ++r) h += qp.A[r][v] * at.lambda[r];
    sum += qp.block[v].conjugate(-h);
  }
  return sum;
}

PrimalPoint moved(PrimalPoint at, const PrimalPoint& step, double t) {
  for (std::size_t i = 0; i < at.coefficients.size(); ++i)
    at.coefficients[i] += t * step.coefficients[i];
  for (std::size_t i = 0; i < at.f.size(); ++i) at.f[i] += t * step.f[i];
  for (std::size_t r = 0; r < at.lambda.size(); ++r) at.lambda[r] += t * step.lambda[r];
  return at;
}

// Along Newton's step the second derivative of the primal is minus the first.
// By columns the matrix of a step is 1 + Z'DZ, and the 1 is lost beside large costs.
TEST(Newton, HugeCostsEndItWithoutACrash) {
  for (const double cost : {1e4, 1e18, 1e40, 1e200}) {
    DualQp qp = machine(Cost::logistic, Linear{}, 60, 1);
    for (Block& block : qp.block) block.upper = cost;
    PrimalNewton options;
    options.stop.iterations = 500;
    const Certified solved = solve(qp, options, {Threads(1)});
    EXPECT_NE(solved.solution.ended, Ended::unbounded) << cost;
    for (const double each : solved.solution.a) EXPECT_TRUE(std::isfinite(each)) << cost;
    if (cost == 1e4) {
      EXPECT_EQ(solved.solution.ended, Ended::converged);
    }
  }
}

TEST(Newton, StepEndsWhereTheParabolaOfTheObjectiveDoes) {
  for (const Cost cost : {Cost::squared_hinge, Cost::huberised, Cost::logistic})
    for (const Kernel& kernel : {Kernel(Rbf{0.3}), Kernel(Linear{})}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(cost)) + " " + std::string(name_of(kernel)));
      const DualQp qp = machine(cost, kernel, 40, 2);
      const Threads threads(1);
      const Directions directions(qp, 1 << 20, 100, Precision::exact, threads);
      std::vector<double> a;
      Rng rng(9);
      for (std::size_t v = 0; v < qp.size(); ++v) a.push_back(rng.uniform(0.1, 0.5));
      const PrimalPoint at = directions.from(a, {0.3, -0.2});
      const PrimalPoint step = directions.newton(qp, at, dual_point(qp, at));
      const double t = 1e-6;  // short of the next corner
      const double before = primal(qp, directions, moved(at, step, -t)),
                   here = primal(qp, directions, at),
                   after = primal(qp, directions, moved(at, step, t));
      const double slope = (after - before) / (2 * t), bend = (after - 2 * here + before) / (t * t);
      EXPECT_LT(slope, 0);
      EXPECT_NEAR(bend, -slope, 1e-2 * std::abs(slope));
    }
}

TEST(Newton, ReweightedLeastSquaresFindTheOptimumWithAnyRows) {
  for (const Cost cost : all_costs)
    for (const Kernel& kernel : {Kernel(Rbf{0.3}), Kernel(Linear{})})
      for (const std::size_t rows : {0u, 1u, 3u}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(cost)) + " " + std::string(name_of(kernel)) +
                     " " + std::to_string(rows));
        const DualQp qp = machine(cost, kernel, 50, rows);
        ReweightedLeastSquares options;
        const bool corners = cost == Cost::hinge || cost == Cost::tube;
        options.stop.kkt = options.stop.relative_gap = corners ? 1e-3 : 1e-5;
        const Certified found = solve(qp, options, Threads(1));
        EXPECT_EQ(found.solution.ended, Ended::converged);
        EXPECT_LE(found.certificate.relative_gap, options.stop.relative_gap);
        EXPECT_LE(found.certificate.kkt, options.stop.kkt);
      }
}

// Where all variables are as large as their cost, an exponential loss overflows: the descent from
// there comes to no numbers.
TEST(Newton, StartsAgainWhereAnExponentialLossOverflows) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u})
    for (const std::size_t rows : {0u, 1u}) {
      SCOPED_TRACE(std::to_string(seed) + " " + std::to_string(rows));
      const DualQp qp =
          made::machine({Cost::exponential, 40, rows, 2, 1e3, Polynomial{0.3, 3, 0}, seed});
      const auto converges = [&](auto options) {
        options.stop.kkt = options.stop.relative_gap = 1e-2;
        const Certified found = solve(qp, options, Threads(1));
        EXPECT_EQ(found.solution.ended, Ended::converged);
        EXPECT_LE(found.certificate.relative_gap, 1e-2);
        EXPECT_LE(found.certificate.kkt, 1e-2);
      };
      converges(PrimalNewton{});
      converges(ReweightedLeastSquares{});
    }
}

// The parabola of a chord touches the loss where f is, has its foot at the corner, and lies above.
TEST(Newton, TheParabolaOfAChordLiesAboveTheLoss) {
  for (const Cost cost : {Cost::hinge, Cost::squared_hinge, Cost::huberised, Cost::tube}) {
    const DualQp qp = machine(cost, Rbf{0.3}, 20, 0);
    Rng rng(2);
    PrimalPoint at;
    for (std::size_t p = 0; p < qp.K->size(); ++p) at.f.push_back(rng.normal());
    const DualPoint dual = dual_point(qp, at, Parabola::chord);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      const double residual = -block.sign * at.f[qp.row[v]] - block.linear;
      EXPECT_NEAR(dual.curvature[v] * std::max(residual, 0.0), dual.a[v], 1e-12);
      const double here = block.conjugate_beyond(residual);
      if (dual.a[v] == 0) continue;
      for (const double other : {0.0, residual / 2, 2 * residual, 5 * residual}) {
        const double parabola =
            here + dual.curvature[v] * (other * other - residual * residual) / 2;
        EXPECT_GE(parabola, block.conjugate_beyond(other) - 1e-12);
      }
    }
  }
}

// -a is the derivative of the losses: a finite difference.
TEST(Newton, DualPointIsTheGradientOfTheLosses) {
  for (const Cost cost : all_costs) {
    const DualQp qp = machine(cost, Rbf{0.3}, 20, 0);
    Rng rng(2);
    PrimalPoint at;
    for (std::size_t p = 0; p < qp.K->size(); ++p) at.f.push_back(rng.normal());
    const DualPoint dual = dual_point(qp, at);
    const double t = 1e-6;
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const double h = qp.block[v].sign * at.f[qp.row[v]];
      const double difference =
          (qp.block[v].conjugate(-h - t) - qp.block[v].conjugate(-h + t)) / (2 * t);
      EXPECT_NEAR(difference, -dual.a[v], 1e-5);
    }
  }
}

TEST(Newton, RefusesWhatHasNoDerivative) {
  DualQp qp = machine(Cost::hinge, Rbf{0.3}, 10, 1);
  EXPECT_FALSE(refuses(qp, PrimalNewton{}).has_value());
  PrimalNewton tight;
  tight.stop.kkt = 1e-8;
  EXPECT_NE(refuses(qp, tight)->find("ask for no less than 1e-5"), std::string::npos);
  for (Block& block : qp.block) block.upper = infinity;
  EXPECT_NE(refuses(qp, PrimalNewton{})->find("no loss to differentiate"), std::string::npos);
  const DualQp indefinite = machine(Cost::hinge, Sigmoid{}, 10, 1);
  EXPECT_NE(refuses(indefinite, PrimalNewton{})->find("positive semi-definite"), std::string::npos);
}

}  // namespace
}  // namespace maxmargin::newton_test
