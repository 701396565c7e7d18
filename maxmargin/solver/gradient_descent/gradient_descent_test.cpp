#include "maxmargin/solver/gradient_descent/gradient_descent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/gradient_descent/regulariser.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/noisy_machine.hpp"

namespace maxmargin::gradient_descent_test {
namespace {

using made::Cost;

DualQp machine(Cost cost, std::size_t size, std::size_t rows, const Kernel& kernel = Rbf{0.5}) {
  return made::machine({.cost = cost, .size = size, .functions = rows, .kernel = kernel});
}

TEST(GradientDescent, SmoothLossesToManyDigitsInEverySpace) {
  for (const Cost cost : {Cost::squared_hinge, Cost::huberised, Cost::logistic, Cost::exponential})
    for (const GradientSpace space :
         {GradientSpace::function, GradientSpace::coefficient, GradientSpace::values})
      for (const std::size_t rows : {0u, 1u}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(cost)) + " " + std::string(to_string(space)) +
                     " " + std::to_string(rows));
        GradientDescent options;
        options.space = space;
        options.stop.kkt = 1e-5;
        options.stop.relative_gap = 1e-6;
        const Certified found = solve(machine(cost, 24, rows), options, Threads(1));
        EXPECT_EQ(found.solution.ended, Ended::converged);
        EXPECT_LE(found.certificate.relative_gap, 1e-6);
        EXPECT_LE(found.certificate.kkt, 1e-5);
      }
}

TEST(GradientDescent, LossesWithCornersToAFewDigits) {
  for (const Cost cost : {Cost::hinge, Cost::tube})
    for (const std::size_t rows : {0u, 1u, 2u}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(cost)) + " " + std::to_string(rows));
      const DualQp qp = machine(cost, 40, rows);
      const Certified found = solve(qp, GradientDescent{}, Threads(1));
      EXPECT_EQ(found.solution.ended, Ended::converged);
      EXPECT_LE(found.certificate.relative_gap, 1e-3);
      EXPECT_LE(found.certificate.kkt, 1e-3);
      EXPECT_EQ(found.certificate.bound_residual, 0);
      EXPECT_LE(found.certificate.equality_residual, 1e-9);
    }
}

// Theorem 10.5 as errata has it: |gradient|^2 / 2 bounds the distance to the optimum.
TEST(GradientDescent, HalfTheSquaredGradientBoundsTheDistanceToTheOptimum) {
  const DualQp qp = machine(Cost::squared_hinge, 40, 0);
  const double optimum = solve(qp, InteriorPoint{}, Threads(1)).certificate.primal;
  Rng rng(1);
  for (int n = 0; n < 20; ++n) {
    std::vector<double> beta, f(40), product(40);
    for (int p = 0; p < 40; ++p) beta.push_back(0.3 * rng.normal());
    qp.K->multiply(beta, f, Precision::exact, Threads(1));
    double primal = regulariser_value(Regulariser::standard, beta, f), square = 0;
    for (std::size_t v = 0; v < 40; ++v) {
      const double h = qp.block[v].sign * f[v];
      primal += qp.block[v].conjugate(-h);
      beta[v] -= qp.block[v].sign * qp.block[v].argmax(-h);
    }
    qp.K->multiply(beta, product, Precision::exact, Threads(1));
    for (std::size_t v = 0; v < 40; ++v) square += beta[v] * product[v];
    EXPECT_LE(primal - optimum, square / 2 + 1e-6);
  }
}

TEST(GradientDescent, RegularisersHaveTheGradientsOfTheirValues) {
  const DualQp qp = machine(Cost::hinge, 12, 0);
  const Threads threads(1);
  Rng rng(3);
  std::vector<double> beta, f(12);
  for (int p = 0; p < 12; ++p) beta.push_back(rng.normal());
  const auto at = [&](Regulariser regulariser, const std::vector<double>& where) {
    std::vector<double> values(12);
    qp.K->multiply(where, values, Precision::exact, threads);
    return regulariser_value(regulariser, where, values);
  };
  qp.K->multiply(beta, f, Precision::exact, threads);
  for (const auto& [regulariser, name] : Named<Regulariser>::values) {
    SCOPED_TRACE(std::string(name));
    const auto gradient =
        regulariser_gradient(regulariser, *qp.K, beta, f, Precision::exact, threads);
    for (std::size_t p = 0; p < 12; ++p) {
      std::vector<double> up = beta, down = beta;
      up[p] += 1e-6;
      down[p] -= 1e-6;
      EXPECT_NEAR(gradient[p], (at(regulariser, up) - at(regulariser, down)) / 2e-6, 1e-6);
    }
  }
}

TEST(GradientDescent, OtherRegularisersNeedALimitAndLowerTheirObjective) {
  const DualQp qp = machine(Cost::squared_hinge, 30, 1);
  for (const Regulariser regulariser :
       {Regulariser::renormalised, Regulariser::l1, Regulariser::l2_data}) {
    GradientDescent options;
    options.regulariser = regulariser;
    const auto why = refuses(qp, options);
    ASSERT_TRUE(why.has_value());
    EXPECT_NE(why->find("has no stopping rule"), std::string::npos) << *why;
    EXPECT_NE(why->find("give --max-iterations"), std::string::npos) << *why;
    double last = infinity;
    for (const std::size_t steps : {1, 20, 300}) {
      options.stop.iterations = steps;
      const Threads threads(1);
      const maxmargin::Run context{threads, {}, Precision::exact};
      const Solution found = run(qp, options, context);
      EXPECT_NE(found.ended, Ended::converged);
      const std::vector<double> beta = qp.coefficients(found.a);
      std::vector<double> f(30);
      qp.K->multiply(beta, f, Precision::exact, Threads(1));
      double objective = regulariser_value(regulariser, beta, f);
      for (std::size_t v = 0; v < 30; ++v)
        objective +=
            qp.block[v].conjugate(-(qp.block[v].sign * f[v] + qp.A[0][v] * found.lambda[0]));
      EXPECT_LT(objective, last);
      last = objective;
    }
  }
}

TEST(GradientDescent, OtherRegularisersHaveAGapOfTheirOwn) {
  const Threads threads(1);
  for (const Cost cost : {Cost::squared_hinge, Cost::logistic})
    for (const std::size_t rows : {0u, 1u})
      for (const Regulariser regulariser :
           {Regulariser::renormalised, Regulariser::l1, Regulariser::l2_data}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(cost)) + " " + std::to_string(rows) + " " +
                     std::string(to_string(regulariser)));
        // Narrow, so that descent in beta gets somewhere.
        const DualQp qp = machine(cost, 30, rows, Rbf{30});
        GradientDescent options;
        options.regulariser = regulariser;
        options.stop.iterations = 2000;
        const maxmargin::Run context{threads, {}, Precision::exact};
        const Solution found = run(qp, options, context);
        const double rounding = 1e-12 * found.own_primal;  // both are sums of doubles
        EXPECT_LE(found.own_dual, found.own_primal + rounding);
        // A subgradient of sum |beta| is no descent at its kinks.
        const double most = regulariser == Regulariser::l1 ? 2 : 1e-3;
        EXPECT_LE(relative_gap(found.own_primal, found.own_dual), most);
        // A bound from below for any f and lambda.
        Rng rng(2);
        for (int n = 0; n < 30; ++n) {
          std::vector<double> beta = qp.coefficients(found.a), f(30), lambda = found.lambda;
          for (double& each : beta) each += 0.01 * n * rng.normal();
          for (double& each : lambda) each += 0.01 * n * rng.normal();
          qp.K->multiply(beta, f, Precision::exact, threads);
          double objective = regulariser_value(regulariser, beta, f);
          for (std::size_t v = 0; v < 30; ++v)
            objective += qp.block[v].conjugate(
                -(qp.block[v].sign * f[v] + (rows == 0 ? 0 : qp.A[0][v] * lambda[0])));
          EXPECT_GE(objective, found.own_dual - rounding);
        }
      }
}

TEST(GradientDescent, TheDualOfTheStandardRegulariserIsThatOfTheProblem) {
  const DualQp qp = machine(Cost::squared_hinge, 30, 1);
  InteriorPoint options;
  options.stop.relative_gap = 1e-9;
  const Certified optimum = solve(qp, options, Threads(1));
  EXPECT_NEAR(regularised_dual(qp, Regulariser::standard, optimum.solution.a, Threads(1)),
              optimum.certificate.dual, 1e-7);
}

// Draws of variables without bounds sent each other ever farther.
TEST(Stochastic, VariablesWithoutBoundsDoNotRunAway) {
  for (const Cost cost : {Cost::squared_hinge, Cost::exponential}) {
    SCOPED_TRACE(static_cast<int>(cost));
    Stochastic options;
    options.batch = 8;
    options.stop.kkt = 2;
    options.stop.relative_gap = 0.02;
    const Certified found = solve(machine(cost, 200, 0), options, Threads(1));
    EXPECT_EQ(found.solution.ended, Ended::converged);
    EXPECT_LE(found.certificate.relative_gap, 0.02);
  }
}

// Means keep a little of every draw; those that belong at their bounds are put there.
TEST(Stochastic, VariablesComeToTheirBounds) {
  for (const std::size_t size : {60u, 100u}) {
    SCOPED_TRACE(size);
    Stochastic options;
    options.batch = 8;
    options.stop.kkt = 1;
    options.stop.relative_gap = 0.02;
    const Certified found = solve(machine(Cost::hinge, size, 0), options, Threads(1));
    EXPECT_EQ(found.solution.ended, Ended::converged);
    EXPECT_LE(found.certificate.kkt, 1);
  }
}

TEST(Stochastic, DrawsRowsUntilTheGapIsSmall) {
  for (const Cost cost : {Cost::hinge, Cost::tube, Cost::squared_hinge, Cost::logistic}) {
    SCOPED_TRACE(static_cast<int>(cost));
    const DualQp qp = machine(cost, 30, 0);
    Stochastic options;
    options.batch = 8;
    options.stop.kkt = 10;
    options.stop.relative_gap = 0.01;
    const Certified found = solve(qp, options, Threads(1));
    EXPECT_EQ(found.solution.ended, Ended::converged);
    EXPECT_LE(found.certificate.relative_gap, 0.01);
    EXPECT_EQ(found.certificate.bound_residual, 0);
    options.seed = 1;
    EXPECT_NE(solve(qp, options, Threads(1)).solution.a, found.solution.a);
    options.seed = 0;
    EXPECT_EQ(solve(qp, options, Threads(3)).solution.a, found.solution.a);
  }
}

TEST(GradientDescent, RefusesWhatItCannotDoAndSaysTheWayOut) {
  const DualQp hinge = machine(Cost::hinge, 10, 1);
  GradientDescent coefficient;
  coefficient.space = GradientSpace::coefficient;
  EXPECT_NE(refuses(hinge, coefficient)->find("take --space function"), std::string::npos);
  EXPECT_FALSE(refuses(machine(Cost::logistic, 10, 1), coefficient).has_value());
  GradientDescent values;
  values.space = GradientSpace::values;
  EXPECT_NE(refuses(hinge, values)->find("take --space function"), std::string::npos);
  EXPECT_FALSE(refuses(machine(Cost::logistic, 10, 1), values).has_value());
  values.cache_bytes = 100;
  EXPECT_NE(refuses(machine(Cost::logistic, 10, 1), values)->find("not enough --memory"),
            std::string::npos);
  GradientDescent tight;
  tight.stop.relative_gap = 1e-6;
  EXPECT_NE(refuses(hinge, tight)->find("ask for no less than 1e-4"), std::string::npos);
  EXPECT_FALSE(refuses(machine(Cost::logistic, 10, 1), tight).has_value());
  EXPECT_NE(refuses(hinge, Stochastic{})->find("it takes no equality row"), std::string::npos);
  DualQp hard = machine(Cost::hinge, 10, 0);
  for (Block& block : hard.block) block.upper = infinity;
  EXPECT_NE(refuses(hard, GradientDescent{})->find("no loss to differentiate"), std::string::npos);
  EXPECT_TRUE(refuses(hard, Stochastic{}).has_value());
}

}  // namespace
}  // namespace maxmargin::gradient_descent_test
