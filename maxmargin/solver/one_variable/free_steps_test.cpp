#include "maxmargin/solver/one_variable/free_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::free_steps_test {
namespace {

/// A tube over points of a line, both of whose sides may be free at once, with two rows.
struct Made {
  DualQp qp;
  std::vector<double> a, lambda, penalty;
  std::vector<Index> all;

  explicit Made(double width) {
    Rng rng(3);
    std::vector<double> x;
    qp.A.resize(2);
    for (int i = 0; i < 15; ++i) {
      x.push_back(rng.uniform(0, 3));
      for (const double sign : {1.0, -1.0}) {
        qp.row.push_back(static_cast<Index>(i));
        qp.block.push_back({sign, 0.1 - sign * rng.normal(), -width, width, 0.05});
        qp.A[0].push_back(sign);
        qp.A[1].push_back(sign * std::sin(x.back()));
        a.push_back(0.3 * width * rng.uniform(-1, 1));
        all.push_back(static_cast<Index>(all.size()));
      }
    }
    qp.d = {0.2, -0.1};
    lambda = {0.4, -0.7};
    penalty = {2, 5};
    qp.K = make_kernel_quadratic(Rbf{1}, std::make_shared<const Features>(Features::dense(1, x)));
  }

  std::vector<double> residual(const std::vector<double>& at) const {
    std::vector<double> r = {-qp.d[0], -qp.d[1]};
    for (std::size_t k = 0; k < 2; ++k)
      r[k] = std::inner_product(at.begin(), at.end(), qp.A[k].begin(), r[k]);
    return r;
  }
  std::vector<double> f(const std::vector<double>& at) const {
    std::vector<double> values(qp.K->size());
    qp.K->multiply(qp.coefficients(at), values, Precision::exact, Threads(1));
    return values;
  }
  /// The augmented Lagrangian by its definition.
  double value(const std::vector<double>& at) const {
    const std::vector<double> products = f(at), r = residual(at);
    double sum = 0;
    for (std::size_t v = 0; v < at.size(); ++v)
      sum += qp.block[v].sign * at[v] * products[qp.row[v]] / 2 + qp.block[v].value(at[v]);
    for (std::size_t k = 0; k < 2; ++k) sum += lambda[k] * r[k] + penalty[k] * r[k] * r[k] / 2;
    return sum;
  }
  std::vector<double> slope(const std::vector<double>& at) const {
    const std::vector<double> products = f(at), r = residual(at);
    std::vector<double> result;
    for (std::size_t v = 0; v < at.size(); ++v) {
      result.push_back(qp.block[v].sign * products[qp.row[v]] + qp.block[v].slope(at[v]));
      for (std::size_t k = 0; k < 2; ++k) result[v] += (lambda[k] + penalty[k] * r[k]) * qp.A[k][v];
    }
    return result;
  }
  /// Where all variables are after Newton steps of some.
  std::vector<double> after(const std::vector<Index>& free, int steps, int threads = 1) const {
    const std::vector<double> all_slopes = slope(a);
    FreePoint start;
    for (const Index v : free) {
      start.a.push_back(a[v]);
      start.slope.push_back(all_slopes[v]);
    }
    const FreePoint end = newton_steps(qp, penalty, free, start, steps, Threads(threads));
    std::vector<double> to = a;
    for (std::size_t k = 0; k < free.size(); ++k) to[free[k]] = end.a[k];
    const std::vector<double> true_slopes = slope(to);
    for (std::size_t k = 0; k < free.size(); ++k)
      EXPECT_NEAR(end.slope[k], true_slopes[free[k]], 1e-4 * (1 + std::abs(all_slopes[free[k]])));
    return to;
  }
};

double largest(const std::vector<double>& values) {
  double size = 0;
  for (const double each : values) size = std::max(size, std::abs(each));
  return size;
}

TEST(FreeSteps, OneStepIsTheMinimumWhereNoBoundIsNear) {
  const Made made(1e6);
  const std::vector<double> to = made.after(made.all, 1);
  EXPECT_LE(largest(made.slope(to)), 1e-4 * largest(made.slope(made.a)));
}

TEST(FreeSteps, BoundsHoldAndEveryStepGoesDown) {
  const Made made(0.5);
  double last = made.value(made.a);
  for (const int steps : {1, 2, 4, 30}) {
    const std::vector<double> to = made.after(made.all, steps, 2);
    EXPECT_LE(largest(to), 0.5);
    EXPECT_LE(made.value(to), last + 1e-9);
    last = made.value(to);
  }
  EXPECT_LT(last, made.value(made.a) - 0.1);
}

TEST(FreeSteps, OnlyTheVariablesGivenAreMinimised) {
  const Made made(1e6);
  const std::vector<Index> some = {3, 4, 11};
  const std::vector<double> before = made.slope(made.a), after = made.slope(made.after(some, 3));
  for (const Index v : some) EXPECT_NEAR(after[v], 0, 1e-5 * (1 + std::abs(before[v])));
}

// Without penalties the rows have no part in it.
TEST(FreeSteps, RowsWithoutPenaltiesAreConstantPrices) {
  Made made(1e6);
  made.penalty = {0, 0};
  EXPECT_LE(largest(made.slope(made.after(made.all, 1))), 1e-4 * largest(made.slope(made.a)));
}

}  // namespace
}  // namespace maxmargin::free_steps_test
