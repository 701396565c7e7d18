#include "maxmargin/solver/smo/cascade.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin::cascade_test {
namespace {

/// Classes in the plane that overlap.
DualQp overlapping(std::size_t points, double cost, double gamma) {
  Rng rng(3);
  std::vector<double> values;
  DualQp qp;
  qp.A.emplace_back();
  qp.d = {0};
  for (std::size_t i = 0; i < points; ++i) {
    // Every fourth point is of one class: no regular choice of points keeps both.
    const double y = i % 4 == 0 ? 1 : -1;
    values.push_back(rng.normal() + y);
    values.push_back(rng.normal());
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({y, -1, 0, cost, 0});
    qp.A[0].push_back(y);
  }
  qp.K = make_kernel_quadratic(Rbf{gamma},
                               std::make_shared<const Features>(Features::dense(2, values)));
  return qp;
}

Start start_of(const DualQp& qp) {
  const Threads threads(1);
  return cascade_start(qp, Context(threads), [&](const DualQp& part, const Start& from) {
    Smo options;
    options.stop.kkt = 0.05;
    return run(part, options, Run{threads, from.a});
  });
}

/// The same with a penalised bias, which is part of K, in the place of the row.
DualQp penalised(DualQp qp) {
  qp.A.clear();
  qp.d.clear();
  qp.K = make_biased(qp.K);
  return qp;
}

void expect_most_stay(const DualQp& qp) {
  const Start start = start_of(qp);
  ASSERT_EQ(start.a.size(), qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    EXPECT_GE(start.a[v], qp.block[v].lower);
    EXPECT_LE(start.a[v], qp.block[v].upper);
  }
  EXPECT_LE(equality_defect(qp, start.a), 1e-6);
  const Certified best = solve(qp, Smo{}, Threads(1));
  std::size_t support = 0, wrong = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    support += best.solution.a[v] > 0;
    wrong += std::abs(best.solution.a[v] - start.a[v]) > 0.5;
  }
  EXPECT_LT(wrong, support / 2);
}

TEST(Cascade, StartsWhereMostVariablesStay) { expect_most_stay(overlapping(2000, 1, 0.5)); }

TEST(Cascade, StartsWhereMostVariablesStayWithAPenalisedBias) {
  expect_most_stay(penalised(overlapping(2000, 1, 0.5)));
}

TEST(Cascade, GivesUpWhereSupportVectorsAreFree) {
  const Start start = start_of(overlapping(1500, 1e4, 50));
  EXPECT_TRUE(start.hopeless);
  EXPECT_TRUE(start.a.empty());
}

TEST(Cascade, LeavesSmallProblemsAlone) {
  const Start start = start_of(overlapping(800, 1, 0.5));
  EXPECT_TRUE(start.a.empty());
  EXPECT_FALSE(start.hopeless);
}

/// Duals are compared as doubles bound them: floats leave more between bounds than kkt does.
void expect_same_optimum(const DualQp& qp) {
  const Threads one(1), two(2);
  Smo options;
  options.stop.kkt = 1e-4;
  options.stop.relative_gap = 1e-7;
  const Solution from_zero =
      run(qp, options, maxmargin::Run{one, std::vector<double>(qp.size(), 0.0)});
  const Certified without = certify(qp, from_zero, Precision::exact, one);
  const Certified with = solve(qp, options, one), again = solve(qp, options, two);
  EXPECT_EQ(with.solution.ended, Ended::converged);
  EXPECT_NEAR(with.certificate.dual, without.certificate.dual, 1e-6 * without.certificate.dual);
  EXPECT_EQ(with.solution.a, again.solution.a);
}

TEST(Cascade, DoesNotChangeTheOptimum) { expect_same_optimum(overlapping(4500, 1, 0.5)); }

TEST(Cascade, DoesNotChangeTheOptimumWithAPenalisedBias) {
  expect_same_optimum(penalised(overlapping(4500, 1, 0.5)));
}

}  // namespace
}  // namespace maxmargin::cascade_test
