#include "maxmargin/solver/smo/coupled_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::coupled_rows_test {
namespace {

enum class Form { classes, tube, nu };

/// Points in the plane; beside the bias (two rows for nu) the functions x, xy, sin(2 y), x + 1e-3
/// y.
DualQp machine(Form form, std::size_t points, std::size_t functions, double cost) {
  Rng rng(11);
  std::vector<double> values;
  DualQp qp;
  const std::size_t signs = form == Form::nu ? 2 : 1;
  qp.A.resize(signs + functions);
  qp.d.assign(signs + functions, 0.0);
  for (std::size_t i = 0; i < points; ++i) {
    const double x = rng.normal(), y = rng.normal();
    values.insert(values.end(), {x, y});
    const double phi[] = {x, x * y, std::sin(2 * y), x + 1e-3 * y};
    // Functions that tell the classes apart leave nu no point that keeps the rows.
    const double noise = form == Form::nu ? 4 : 0.4;
    const double target = x - y * y / 2 + noise * rng.normal();
    const auto add = [&](const Block& block) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back(block);
      for (std::size_t r = 0; r < signs; ++r)
        qp.A[r].push_back(signs == 1 || (r == 0) == (block.sign > 0) ? block.sign : 0);
      for (std::size_t r = 0; r < functions; ++r) qp.A[signs + r].push_back(block.sign * phi[r]);
    };
    if (form == Form::tube) {
      add({1, 0.1 - target, 0, cost, 0});
      add({-1, 0.1 + target, 0, cost, 0});
    } else {
      add({target > -0.5 ? 1.0 : -1.0, form == Form::nu ? 0.0 : -1.0, 0, cost, 0});
    }
  }
  if (form == Form::nu) {
    qp.d[0] = 0.3 * cost * static_cast<double>(points) / 2;
    qp.d[1] = -qp.d[0];
  }
  qp.K =
      make_kernel_quadratic(Rbf{0.5}, std::make_shared<const Features>(Features::dense(2, values)));
  return qp;
}

Certified solved(const DualQp& qp, int threads = 1, double gap = 1e-9) {
  Smo options;
  options.stop.kkt = 1e-7;
  options.stop.relative_gap = gap;
  return solve(qp, options, Threads(threads));
}

// Rows weigh as much as kernel values do, whatever their unit; and something where all are 0.
TEST(CoupledRows, ArePenalisedInTheUnitOfTheKernel) {
  DualQp qp = machine(Form::classes, 30, 2, 1);
  const auto penalty = [&](double scale) {
    std::vector<double> K(30 * 30, 0.0);
    for (std::size_t i = 0; i < 30; ++i) K[31 * i] = scale;
    qp.K = std::make_shared<DenseQuadratic>(30, std::move(K));
    return CoupledRows(qp, sort_rows(qp)).kernel(3, 3);
  };
  const double usual = penalty(1);
  EXPECT_GT(usual, 0);
  EXPECT_DOUBLE_EQ(penalty(64), 64 * usual);
  EXPECT_DOUBLE_EQ(penalty(0), usual);
}

TEST(CoupledRows, AnyNumberOfRowsGivesTheOptimumOfADenseReference) {
  for (const Form form : {Form::classes, Form::tube, Form::nu})
    for (std::size_t functions = 1; functions <= 4; ++functions)
      for (const double cost : {0.05, 1.0, 5.0}) {
        const DualQp qp = machine(form, 30, functions, cost);
        const reference::Optimum truth = reference::dense_optimum(qp);
        // With so much noise nu's objective is 1e-5 of the terms that it is made of, whose sums are
        // known to 1e-14 of themselves.
        const double gap = form == Form::nu ? 1e-7 : 1e-9;
        const Certified found = solved(qp, 1, gap);
        SCOPED_TRACE(testing::Message() << "form " << static_cast<int>(form) << ", " << functions
                                        << " functions, cost " << cost);
        EXPECT_EQ(found.solution.ended, Ended::converged);
        const double size = 1 + std::abs(truth.dual);
        EXPECT_NEAR(found.certificate.dual, truth.dual, 1e-8 * size);
        EXPECT_NEAR(found.certificate.primal, truth.dual, 1e-8 * size);
        EXPECT_LE(found.certificate.relative_gap, gap);
        EXPECT_LE(found.certificate.equality_residual, 1e-10 * (1 + cost));
        EXPECT_LE(found.certificate.bound_residual, 0);
      }
}

TEST(CoupledRows, LargerProblemsConvergeToTheSameBitsWithAnyThreads) {
  const DualQp qp = machine(Form::classes, 1200, 3, 10);
  const Certified one = solved(qp, 1), two = solved(qp, 2);
  EXPECT_EQ(one.solution.ended, Ended::converged);
  EXPECT_LE(one.certificate.relative_gap, 1e-9);
  EXPECT_EQ(one.solution.a, two.solution.a);
  EXPECT_EQ(one.solution.lambda, two.solution.lambda);
}

TEST(CoupledRows, LimitsLeaveAPointThatKeepsTheRows) {
  const DualQp qp = machine(Form::tube, 400, 3, 100);
  Smo options;
  options.stop.iterations = 50;
  const Certified limited = solve(qp, options, Threads(1));
  EXPECT_EQ(limited.solution.ended, Ended::iteration_limit);
  EXPECT_LE(limited.certificate.equality_residual, 1e-9);
  EXPECT_LE(limited.certificate.bound_residual, 0);
}

// Each row can be kept by itself: the last two by one point each, and not by the same.
TEST(CoupledRows, RowsThatCannotBeKeptStall) {
  DualQp qp = machine(Form::classes, 20, 2, 1);
  for (const std::size_t r : {1u, 2u})
    for (std::size_t v = 0; v < qp.size(); ++v)
      qp.d[r] += std::max(qp.A[r][v] * qp.block[v].lower, qp.A[r][v] * qp.block[v].upper);
  EXPECT_EQ(solved(qp).solution.ended, Ended::stalled);
}

TEST(CoupledRows, TellsPairRowsFromCoupledOnes) {
  DualQp qp = machine(Form::nu, 12, 2, 1);
  const RowKinds kinds = sort_rows(qp);
  EXPECT_EQ(kinds.pair, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(kinds.coupled, (std::vector<std::size_t>{2, 3}));
  EXPECT_FALSE(kinds.refusal.has_value());
  // The second function becomes the first one plus the bias.
  for (std::size_t v = 0; v < qp.size(); ++v) qp.A[3][v] = qp.A[2][v] + qp.A[0][v] + qp.A[1][v];
  EXPECT_TRUE(sort_rows(qp).refusal.has_value());
}

TEST(CoupledRows, MultipliersOfTheRowsAsGiven) {
  // By the residual of one variable: mu = penalty r, spread over the rows that B is made of.
  const DualQp qp = machine(Form::classes, 15, 3, 1);
  const RowKinds kinds = sort_rows(qp);
  CoupledRows coupling(qp, kinds);
  std::vector<double> beta(qp.size(), 0.0);
  beta[4] = 0.3;
  coupling.measure(beta);
  const std::vector<double> lambda = coupling.multipliers(kinds, std::vector<double>{0.7});
  for (std::size_t v = 0; v < qp.size(); ++v) {
    double sum = 0;
    for (std::size_t r = 0; r < qp.A.size(); ++r) sum += lambda[r] * qp.A[r][v];
    EXPECT_NEAR(sum * qp.block[v].sign, 0.7 + coupling.slope(v), 1e-10);
  }
}

}  // namespace
}  // namespace maxmargin::coupled_rows_test
