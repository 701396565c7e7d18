#include "maxmargin/solver/smo/set/newton.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::newton_test {
namespace {

/// A problem with `rows` disjoint equality rows, at a point where every variable is free.
struct Made {
  DualQp qp;
  std::vector<double> a;

  Made(std::size_t size, std::size_t rows, double upper, std::uint64_t seed) {
    Rng rng(seed);
    std::vector<double> x(size * 4);
    for (double& value : x) value = rng.normal();
    qp.K = make_kernel_quadratic(Rbf{0.5}, std::make_shared<const Features>(Features::dense(4, x)));
    qp.A.assign(rows, std::vector<double>(size, 0.0));
    qp.d.assign(rows, 0.0);
    for (std::size_t v = 0; v < size; ++v) {
      Block block;
      block.sign = v % 2 == 0 ? 1 : -1;
      block.lower = 0;
      block.upper = upper;
      block.linear = -1 - rng.uniform();
      block.curvature = v % 5 == 0 ? 0.3 : 0;
      qp.block.push_back(block);
      qp.row.push_back(static_cast<Index>(v));
      qp.A[v / 2 % rows][v] = block.sign;
      a.push_back(0.5 * (std::isfinite(upper) ? upper : 1));
    }
  }
};

struct Judged {
  double objective = 0;
  std::vector<double> sums;
};

Judged judged(const Active& active, const std::vector<double>& f) {
  Judged result{0, std::vector<double>(active.rows(), 0.0)};
  for (std::size_t v = 0; v < active.size(); ++v) {
    const double beta = active.beta[v];
    result.objective +=
        beta * (f[active.point[v]] / 2 + active.linear[v]) + active.curvature[v] * beta * beta / 2;
    result.sums[active.row[v]] += beta;
  }
  return result;
}

/// Goes where a move leads.
Judged judged_after(const NewtonMove& move, Active& active) {
  for (std::size_t k = 0; k < move.variables.size(); ++k)
    active.beta[move.variables[k]] += move.change[k];
  active.K->multiply(active.beta, active.f, Precision::fast, Threads(2));
  return judged(active, active.f);
}

class Newton : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(EqualityRows, Newton, testing::Values(1, 2));

TEST_P(Newton, MinimisesOverTheFreeVariables) {
  const Threads threads(2);
  for (const double upper : {100.0, 4.0, 1.0, infinity}) {
    const double scale = std::isfinite(upper) ? upper : 1;
    Made made(60, GetParam(), upper, 1);
    // Too many in the way of a step to be fixed at once.
    for (std::size_t v = 0; v < 60; v += 3) made.qp.block[v].linear += upper == infinity ? 4 : 0;
    Active active(made.qp, sort_rows(made.qp), made.a);
    made.qp.K->multiply(active.beta, active.f, Precision::fast, threads);
    const Judged before = judged(active, active.f);
    std::vector<Index> free;
    for (Index v = 0; v < 60; ++v) free.push_back(v);
    const NewtonMove move = newton_move(active, CoupledRows(), free, 60, threads);
    ASSERT_FALSE(move.variables.empty());
    EXPECT_TRUE(move.whole);
    const Judged after = judged_after(move, active);
    EXPECT_LT(after.objective, before.objective);
    for (std::size_t r = 0; r < GetParam(); ++r)
      EXPECT_NEAR(after.sums[r], before.sums[r], 1e-9 * scale);
    // What is still free has one negative gradient in each row; the others are on their bounds.
    std::vector<double> negative_gradient(GetParam(), NAN);
    std::size_t inside = 0;
    for (std::size_t v = 0; v < 60; ++v) {
      EXPECT_GE(active.beta[v], active.lower[v] - 1e-12 * scale);
      EXPECT_LE(active.beta[v], active.upper[v] + 1e-12 * scale);
      const double room =
          std::min(active.beta[v] - active.lower[v], active.upper[v] - active.beta[v]);
      if (room <= 1e-11 * scale) continue;
      ++inside;
      double& common = negative_gradient[active.row[v]];
      if (std::isnan(common)) common = active.negative_gradient(v);
      EXPECT_NEAR(active.negative_gradient(v), common, 1e-5);
    }
    EXPECT_GT(inside, 2u);
  }
}

// With few of many in the way, their bounds are found with one factorisation.
TEST_P(Newton, FixesWhatCrossesABoundInOneStep) {
  const Threads threads(2);
  const std::size_t size = 240;
  Made made(size, GetParam(), 1e3, 5);
  for (Block& block : made.qp.block) block.curvature = 20;
  for (double& each : made.a) each = 0.05;
  // These are better off at zero, and those at a bound close by.
  for (std::size_t v = 0; v < size; v += 24) made.qp.block[v].linear = 5;
  for (std::size_t v = 5; v < size; v += 48) made.qp.block[v].upper = 0.051;
  Active active(made.qp, sort_rows(made.qp), made.a);
  made.qp.K->multiply(active.beta, active.f, Precision::fast, threads);
  const Judged before = judged(active, active.f);
  std::vector<Index> free;
  for (Index v = 0; v < size; ++v) free.push_back(v);
  const NewtonMove move = newton_move(active, CoupledRows(), free, 1, threads);
  EXPECT_TRUE(move.whole);
  const Judged after = judged_after(move, active);
  EXPECT_LT(after.objective, before.objective);
  for (std::size_t r = 0; r < GetParam(); ++r) EXPECT_NEAR(after.sums[r], before.sums[r], 1e-8);
  // The optimum of the problem: one negative gradient inside, the others pulled against their
  // bounds.
  std::vector<double> negative_gradient(GetParam(), NAN);
  std::size_t at_bounds = 0;
  const auto is_at = [](double beta, double bound) { return std::abs(beta - bound) < 1e-9; };
  for (const bool inside : {true, false})
    for (std::size_t v = 0; v < size; ++v) {
      double& common = negative_gradient[active.row[v]];
      const bool low = is_at(active.beta[v], active.lower[v]);
      const bool high = is_at(active.beta[v], active.upper[v]);
      if (inside != (!low && !high)) continue;
      if (inside && std::isnan(common)) common = active.negative_gradient(v);
      EXPECT_TRUE(high || active.negative_gradient(v) <= common + 1e-5);
      EXPECT_TRUE(low || active.negative_gradient(v) >= common - 1e-5);
      at_bounds += !inside;
    }
  EXPECT_GT(at_bounds, 5u);
}

TEST(NewtonMove, LeavesSharedPointsAlone) {
  Made made(10, 1, 1, 2);
  made.qp.row[1] = 0;
  const Active active(made.qp, sort_rows(made.qp), made.a);
  const std::vector<Index> free{0, 1, 2};
  EXPECT_TRUE(newton_move(active, CoupledRows(), free, 3, Threads(1)).variables.empty());
}

}  // namespace
}  // namespace maxmargin::newton_test
