#include "maxmargin/solver/smo/sum_row.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_optimum.hpp"

namespace maxmargin::sum_row_test {
namespace {

enum class Form { classes, tube, nu };

/// Points in the plane without a bias; the functions are x, xy, sin(2 y). nu: the coefficients sum
/// up to a number, whatever their signs.
DualQp machine(Form form, std::size_t points, std::size_t functions, double cost) {
  Rng rng(12);
  std::vector<double> values;
  DualQp qp;
  qp.A.resize(functions + (form == Form::nu));
  qp.d.assign(qp.A.size(), 0.0);
  for (std::size_t i = 0; i < points; ++i) {
    const double x = rng.normal(), y = rng.normal();
    values.insert(values.end(), {x, y});
    const double phi[] = {x, x * y, std::sin(2 * y)};
    const double target = 0.3 + x - y * y / 2 + (form == Form::nu ? 4 : 0.4) * rng.normal();
    const auto add = [&](const Block& block) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back(block);
      for (std::size_t r = 0; r < functions; ++r) qp.A[r].push_back(block.sign * phi[r]);
      if (form == Form::nu) qp.A.back().push_back(1);
    };
    if (form == Form::tube) {
      add({1, 0.1 - target, 0, cost, 0});
      add({-1, 0.1 + target, 0, cost, 0});
    } else {
      add({target > -0.5 ? 1.0 : -1.0, form == Form::nu ? 0.0 : -1.0, 0, cost, 0});
    }
  }
  if (form == Form::nu) qp.d.back() = 0.3 * cost * static_cast<double>(points);
  qp.K =
      make_kernel_quadratic(Rbf{0.5}, std::make_shared<const Features>(Features::dense(2, values)));
  return qp;
}

TEST(SumRow, MachinesWithoutABiasHaveTheOptimumOfADenseReference) {
  for (const Form form : {Form::classes, Form::tube, Form::nu})
    for (std::size_t functions = 1; functions <= 3; ++functions)
      for (const double cost : {0.05, 1.0, 5.0}) {
        SCOPED_TRACE(testing::Message() << "form " << static_cast<int>(form) << ", " << functions
                                        << " functions, cost " << cost);
        const DualQp qp = machine(form, 30, functions, cost);
        const reference::Optimum truth = reference::dense_optimum(qp);
        Smo options;
        options.stop.kkt = 1e-7;
        // With so much noise nu's objective is 1e-5 of the terms that it is made of, whose sums in
        // double are known to 1e-14 of themselves: these take long doubles.
        options.stop.relative_gap = 1e-9;
        const Certified found = solve(qp, options, Threads(1));
        EXPECT_EQ(found.solution.ended, Ended::converged);
        EXPECT_EQ(found.solution.a.size(), qp.size());
        ASSERT_EQ(found.solution.lambda.size(), qp.A.size());
        const double size = 1 + std::abs(truth.dual);
        EXPECT_NEAR(found.certificate.dual, truth.dual, 1e-8 * size);
        EXPECT_NEAR(found.certificate.primal, truth.dual, 1e-8 * size);
        EXPECT_LE(found.certificate.relative_gap, options.stop.relative_gap);
        EXPECT_LE(found.certificate.equality_residual, 1e-10 * (1 + cost));
        EXPECT_LE(found.certificate.bound_residual, 0);
      }
}

TEST(SumRow, HasTheSameBitsForAnyNumberOfThreads) {
  const DualQp qp = machine(Form::tube, 1000, 2, 0.1);
  const Certified one = solve(qp, Smo{}, Threads(1)), two = solve(qp, Smo{}, Threads(2));
  EXPECT_EQ(one.solution.ended, Ended::converged);
  EXPECT_EQ(one.solution.a, two.solution.a);
  EXPECT_EQ(one.solution.lambda, two.solution.lambda);
}

TEST(SumRow, TheNullPointHasNoKernelValues) {
  const DualQp qp = machine(Form::classes, 8, 1, 1);
  const SumRow sum(qp, std::vector<bool>(qp.size(), false));
  const Quadratic& K = *sum.qp.K;
  ASSERT_EQ(K.size(), 9u);
  const Threads one(1);
  // Whatever is asked for agrees with the products of unit vectors.
  const auto expected = [&](Index p, Index q) {
    if (p == 8 || q == 8) return 0.0;
    std::vector<double> unit(8, 0.0), row(8);
    unit[p] = 1;
    qp.K->multiply(unit, row, Precision::exact, one);
    return row[q];
  };
  const std::vector<Index> points = {2, 8, 5};
  std::vector<float> values(9);
  float* out[] = {values.data()};
  for (Index which = 0; which < 3; ++which) {
    K.among(points, std::span(&which, 1), out, one);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(values[c], expected(points[which], points[c]), 1e-6);
  }
  for (const Index p : {Index{3}, Index{8}}) {
    K.rows(std::span(&p, 1), 1, 8, out, one);
    for (Index c = 0; c < 8; ++c) EXPECT_NEAR(values[c], expected(p, c + 1), 1e-6);
    std::vector<double> y(9, 0.5);
    const double two = 2;
    K.add_product(std::span(&p, 1), std::span(&two, 1), y, one);
    for (Index c = 0; c < 9; ++c) EXPECT_NEAR(y[c], 0.5 + 2 * expected(p, c), 1e-6);
  }
  const std::vector<Index> part = {1, 4, 8}, others = {0, 7};
  EXPECT_EQ(K.restrict_to(part)->size(), 3u);
  EXPECT_EQ(K.restrict_to(part)->diagonal()[2], 0);
  EXPECT_EQ(K.restrict_to(others)->diagonal()[1], 1);
}

// A penalised bias: no equality row at all.
TEST(SumRow, ProblemsWithoutARowHaveTheOptimumOfOtherSolvers) {
  for (const Form form : {Form::classes, Form::tube}) {
    DualQp qp = machine(form, 60, 0, 3);
    qp.K = make_biased(qp.K);
    ASSERT_TRUE(qp.A.empty());
    const Stop stop{.kkt = 1e-6, .relative_gap = 1e-8};
    const Certified pairs = solve(qp, Smo{.stop = stop}, Threads(1));
    const Certified single = solve(qp, GaussSeidel{.stop = stop}, Threads(1));
    EXPECT_EQ(pairs.solution.ended, Ended::converged);
    EXPECT_NEAR(pairs.certificate.dual, single.certificate.dual,
                1e-6 * std::abs(single.certificate.dual));
  }
}

TEST(SumRow, VariablesWithoutBoundsAreRefused) {
  DualQp qp = machine(Form::classes, 10, 2, 1);
  EXPECT_FALSE(refuses(qp, Smo{}).has_value());
  qp.block[3].upper = infinity;
  qp.block[3].curvature = 1;
  EXPECT_TRUE(refuses(qp, Smo{}).has_value());
}

}  // namespace
}  // namespace maxmargin::sum_row_test
