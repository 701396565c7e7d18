#include "maxmargin/problem/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::evaluate_test {
namespace {

/// A random problem whose blocks have all kinds of bounds and curvatures.
DualQp made(Rng& rng, std::size_t rows_of_A) {
  DualQp qp;
  const std::size_t m = 3 + rng.below(20);
  std::vector<double> values(m * 2);
  for (double& value : values) value = rng.normal();
  qp.K =
      make_kernel_quadratic(Rbf{0.7}, std::make_shared<const Features>(Features::dense(2, values)));
  for (std::size_t v = 0; v < m; ++v) {
    qp.row.push_back(static_cast<Index>(v));
    const double curvature = rng.uniform() < 0.5 ? 0 : rng.uniform(0.1, 2);
    const bool open = curvature > 0 && rng.uniform() < 0.3;
    qp.block.push_back({rng.uniform() < 0.5 ? 1.0 : -1.0, rng.normal(), -rng.uniform(),
                        open ? infinity : rng.uniform(0.1, 2), curvature});
  }
  for (std::size_t r = 0; r < rows_of_A; ++r) {
    qp.A.emplace_back(m);
    for (std::size_t v = 0; v < m; ++v) qp.A[r][v] = qp.block[v].sign * (r == 0 ? 1 : rng.normal());
    qp.d.push_back(0);
  }
  return qp;
}

double primal_at(const DualQp& qp, const std::vector<double>& a, const std::vector<double>& f,
                 const std::vector<double>& lambda) {
  double primal = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    double h = qp.block[v].sign * f[qp.row[v]];
    primal += a[v] * h / 2;
    for (std::size_t r = 0; r < qp.A.size(); ++r) h += qp.A[r][v] * lambda[r];
    primal += qp.block[v].conjugate(-h);
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) primal += lambda[r] * qp.d[r];
  return primal;
}

/// A point within the bounds, and d such that it is feasible.
std::vector<double> feasible_point(DualQp& qp, Rng& rng) {
  std::vector<double> a(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v)
    a[v] = rng.uniform(qp.block[v].lower, std::min(qp.block[v].upper, 2.0));
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    qp.d[r] = 0;
    for (std::size_t v = 0; v < qp.size(); ++v) qp.d[r] += qp.A[r][v] * a[v];
  }
  return a;
}

std::vector<double> values_at(const DualQp& qp, std::span<const double> a) {
  std::vector<double> f(qp.K->size());
  qp.K->multiply(qp.coefficients(a), f, Precision::exact, Threads(1));
  return f;
}

TEST(Evaluate, TheMultiplierMakesThePrimalSmallest) {
  Rng rng(1);
  const Threads threads(1);
  for (int trial = 0; trial < 300; ++trial) {
    DualQp qp = made(rng, 1);
    const std::vector<double> a = feasible_point(qp, rng);
    const std::vector<double> f = values_at(qp, a);
    const Evaluation result = evaluate(qp, a, f, {});
    EXPECT_GE(result.gap, 0);
    EXPECT_NEAR(result.primal - result.dual, result.gap, 1e-9 * (1 + std::abs(result.primal)));
    EXPECT_NEAR(result.primal, primal_at(qp, a, f, result.lambda), 1e-9);
    for (const double step : {1e-6, 1e-3, 0.1, 1.0})
      for (const double side : {-1.0, 1.0})
        EXPECT_GE(primal_at(qp, a, f, {result.lambda[0] + side * step}), result.primal - 1e-10)
            << "trial " << trial << " step " << side * step;
  }
}

TEST(Evaluate, AGuessDoesNotChangeTheMultiplier) {
  Rng rng(8);
  const Threads threads(1);
  for (int trial = 0; trial < 300; ++trial) {
    DualQp qp = made(rng, 1);
    std::vector<double> a(qp.size());
    for (std::size_t v = 0; v < qp.size(); ++v) {
      Block& block = qp.block[v];
      // Whole numbers: many places coincide, and the derivative is zero on intervals.
      block.curvature = 0;
      block.linear = std::round(2 * block.linear);
      block.lower = 0;
      block.upper = 1 + static_cast<double>(rng.below(2));
      a[v] = trial % 3 == 0 ? block.upper : static_cast<double>(rng.below(2));
      qp.d[0] += qp.A[0][v] * a[v];
    }
    const std::vector<double> f(qp.size(), 0.0);
    const Evaluation from_zero = evaluate(qp, a, f, {});
    for (const double guess : {-100.0, -2.0, -0.5, 0.5, 1.0, 3.0, 100.0}) {
      const Evaluation evaluation = evaluate(qp, a, f, {guess});
      EXPECT_EQ(evaluation.lambda, from_zero.lambda) << "trial " << trial << " guess " << guess;
      EXPECT_EQ(evaluation.primal, from_zero.primal) << "trial " << trial << " guess " << guess;
    }
    for (const double step : {-1.0, -0.25, 0.25, 1.0})
      EXPECT_GE(primal_at(qp, a, f, {from_zero.lambda[0] + step}), from_zero.primal);
  }
}

TEST(Evaluate, WithSeveralRowsTheGapStaysABound) {
  Rng rng(2);
  const Threads threads(1);
  for (int trial = 0; trial < 100; ++trial) {
    DualQp qp = made(rng, 3);
    const std::vector<double> a = feasible_point(qp, rng);
    const std::vector<double> f = values_at(qp, a);
    const Evaluation result = evaluate(qp, a, f, {});
    EXPECT_GE(result.gap, 0);
    EXPECT_NEAR(result.primal - result.dual, result.gap, 1e-9 * (1 + std::abs(result.primal)));
    EXPECT_LE(result.primal, primal_at(qp, a, f, {0, 0, 0}) + 1e-9);
  }
}

TEST(Evaluate, RowsWithoutACommonVariableHaveTheirOwnMultipliersEach) {
  Rng rng(3);
  const Threads threads(1);
  for (int trial = 0; trial < 200; ++trial) {
    DualQp qp = made(rng, 3);
    // Group 3 stands in no row.
    std::vector<std::size_t> group(qp.size());
    const double entry[] = {rng.uniform(0.5, 2), rng.uniform(0.5, 2), rng.uniform(0.5, 2)};
    for (std::size_t v = 0; v < qp.size(); ++v) {
      group[v] = rng.below(4);
      for (std::size_t r = 0; r < 3; ++r)
        qp.A[r][v] = group[v] == r ? qp.block[v].sign * entry[r] : 0;
    }
    const std::vector<double> a = feasible_point(qp, rng);
    const std::vector<double> f = values_at(qp, a);
    const Evaluation result = evaluate(qp, a, f, {});
    EXPECT_NEAR(result.primal - result.dual, result.gap, 1e-9 * (1 + std::abs(result.primal)));
    EXPECT_NEAR(result.primal, primal_at(qp, a, f, result.lambda), 1e-9);
    for (const double size : {1e-6, 1e-3, 0.1, 1.0})
      for (int direction = 0; direction < 8; ++direction) {
        std::vector<double> other = result.lambda;
        for (double& each : other) each += size * rng.normal();
        EXPECT_GE(primal_at(qp, a, f, other), result.primal - 1e-10);
      }

    // Within a row, no pair of variables can move by more than the violation says.
    double violation = 0;
    const auto slope = [&](std::size_t v) {
      return qp.block[v].sign * f[v] + qp.block[v].linear + qp.block[v].curvature * a[v];
    };
    for (std::size_t v = 0; v < qp.size(); ++v)
      for (std::size_t w = 0; w < qp.size(); ++w) {
        if (group[v] != group[w] || group[v] == 3 || v == w) continue;
        const std::size_t r = group[v];
        const bool rises = qp.A[r][v] > 0 ? a[v] < qp.block[v].upper : a[v] > qp.block[v].lower;
        const bool falls = qp.A[r][w] > 0 ? a[w] > qp.block[w].lower : a[w] < qp.block[w].upper;
        if (rises && falls)
          violation = std::max(violation, slope(w) / qp.A[r][w] - slope(v) / qp.A[r][v]);
      }
    EXPECT_GE(result.kkt, violation - 1e-12);
    if (std::ranges::count(group, 3u) == 0) {
      EXPECT_NEAR(result.kkt, violation, 1e-12);
    }
  }
}

// Entries of other sizes would make a variable with a small one count for much.
TEST(Evaluate, RowsWithUnevenEntriesAreJudgedByTheDerivativesAtTheMultiplier) {
  Rng rng(4);
  const Threads threads(1);
  for (int trial = 0; trial < 50; ++trial) {
    DualQp qp = made(rng, 1);
    for (std::size_t v = 0; v < qp.size(); ++v)
      qp.A[0][v] = qp.block[v].sign * rng.uniform(0.01, 2);
    const std::vector<double> a = feasible_point(qp, rng);
    const std::vector<double> f = values_at(qp, a);
    const Evaluation result = evaluate(qp, a, f, {});
    double largest = 0;
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      const double slope = block.sign * f[v] + block.slope(a[v]) + result.lambda[0] * qp.A[0][v];
      if (a[v] < block.upper) largest = std::max(largest, -slope);
      if (a[v] > block.lower) largest = std::max(largest, slope);
    }
    EXPECT_NEAR(result.kkt, 2 * largest, 1e-12 * (1 + largest));
  }
}

TEST(Evaluate, WhereAllVariablesMustBeAtTheirBoundsTheMultiplierIsTheEndOfItsInterval) {
  // Three numbers on a line, each with the bound 1, and a sum of 3: any lambda <= -3 is as good.
  DualQp qp;
  qp.K = make_kernel_quadratic(
      Linear{}, std::make_shared<const Features>(Features::dense(1, std::vector<double>{0, 1, 1})));
  qp.row = {0, 1, 2};
  qp.block.assign(3, {1, 0, 0, 1, 0});
  qp.A = {{1, 1, 1}};
  qp.d = {3};
  const Evaluation result =
      evaluate(qp, std::vector<double>{1, 1, 1}, std::vector<double>{0.5, 3, 1}, {});
  EXPECT_EQ(result.lambda[0], -3);
  EXPECT_NEAR(result.gap, 0, 1e-15);
  EXPECT_EQ(result.kkt, 0);
}

TEST(Evaluate, HardMarginsAreScaledUntilTheyHold) {
  // Two points at distance 2 on a line: w = 1, margin 1; a = 1/2 each is the optimum.
  DualQp qp;
  qp.K = make_kernel_quadratic(
      Linear{}, std::make_shared<const Features>(Features::dense(1, std::vector<double>{-1, 1})));
  qp.row = {0, 1};
  qp.block = {{-1, -1, 0, infinity, 0}, {1, -1, 0, infinity, 0}};
  qp.A = {{-1, 1}};
  qp.d = {0};
  const auto at = [&](double a) {
    return evaluate(qp, std::vector<double>{a, a}, std::vector<double>{-2 * a, 2 * a}, {});
  };
  EXPECT_NEAR(at(0.5).gap, 0, 1e-15);
  EXPECT_NEAR(at(0.5).primal, 0.5, 1e-15);
  EXPECT_NEAR(at(0.25).primal, 0.5, 1e-15);  // scaled by 2
  EXPECT_NEAR(at(0.25).dual, 0.375, 1e-15);
  EXPECT_EQ(at(0).primal, infinity);
}

TEST(RelativeGap, IsThatOfTheStoppingRule) {
  EXPECT_DOUBLE_EQ(relative_gap(3, 1), 1);
  EXPECT_EQ(relative_gap(1, 1), 0);
  EXPECT_EQ(relative_gap(infinity, 1), infinity);
  EXPECT_DOUBLE_EQ(relative_gap(-1, -3), 1);
}

}  // namespace
}  // namespace maxmargin::evaluate_test
