#include "maxmargin/solver/smo/smo.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/noisy_machine.hpp"

namespace maxmargin::smo_test {
namespace {

/// Two noisy classes in the plane.
DualQp two_classes(std::size_t rows, double cost) {
  return made::machine({.size = rows, .C = cost});
}

Certified solved(const DualQp& qp, const Smo& options) {
  const Threads threads(1);
  return solve(qp, options, threads);
}

// What is cached, how large the sets are and what is left out on the way changes the way to the
// optimum, not the optimum.
TEST(Smo, TheOptimumDoesNotDependOnMemorySetsOrShrinking) {
  const DualQp qp = two_classes(300, 2);
  Smo usual;
  usual.stop.kkt = 1e-4;
  usual.stop.relative_gap = 1e-6;
  const Certified best = solved(qp, usual);
  ASSERT_EQ(best.solution.ended, Ended::converged);
  for (const std::size_t rows : {2, 7, 60})
    for (const int set : {2, 16, 300})
      for (const bool shrinking : {true, false}) {
        Smo options = usual;
        options.cache_bytes = rows * (300 * sizeof(float) + 64);
        options.working_set = set;
        options.shrinking = shrinking;
        const Certified other = solved(qp, options);
        EXPECT_EQ(other.solution.ended, Ended::converged);
        EXPECT_LE(other.certificate.kkt, 1e-4);
        EXPECT_NEAR(other.certificate.dual, best.certificate.dual, 1e-6 * best.certificate.dual)
            << rows << " rows, sets of " << set;
      }
}

TEST(Smo, StopsAtItsLimitsAndSaysSo) {
  const DualQp qp = two_classes(400, 100);
  Smo few;
  few.stop.iterations = 10;
  const Certified limited = solved(qp, few);
  EXPECT_EQ(limited.solution.ended, Ended::iteration_limit);
  EXPECT_GT(limited.certificate.gap, 0);
  EXPECT_LE(limited.certificate.equality_residual, 1e-12);
  Smo no_time;
  no_time.stop.seconds = 0;
  EXPECT_EQ(solved(qp, no_time).solution.ended, Ended::time_limit);
}

TEST(Smo, AnObserverSeesTheRunAndCanEndIt) {
  const DualQp qp = two_classes(3000, 1e6);
  Smo options;
  options.stop.kkt = 1e-12;
  options.stop.relative_gap = 1e-14;
  const Threads threads(1);
  int calls = 0;
  const Context impatient(threads, [&](const Progress& progress) {
    ++calls;
    EXPECT_EQ(progress.size, qp.size());
    EXPECT_GE(progress.done, 0);
    EXPECT_LE(progress.done, 1);
    return Control::cancel;
  });
  const Certified stopped = solve(qp, options, impatient);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(stopped.solution.ended, Ended::cancelled);
  EXPECT_LE(stopped.certificate.bound_residual, 0);
}

TEST(Smo, StartsFromWhatItIsGiven) {
  const DualQp qp = two_classes(300, 5);
  Smo options;
  options.stop.kkt = 1e-4;
  const Certified first = solved(qp, options);
  const Threads threads(1);
  const maxmargin::Run again{threads, first.solution.a};
  const Solution second = run(qp, options, again);
  EXPECT_EQ(second.ended, Ended::converged);
  EXPECT_EQ(second.iterations, 0u);
}

// Gradients of 1e11 are known to 1e-5 at best: what a pair promises there is rounding.
TEST(Smo, AToleranceBelowTheRoundingEndsAsAStall) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    std::vector<double> values;
    DualQp qp;
    qp.A.emplace_back(60, 1.0);
    qp.d = {30};
    for (std::size_t i = 0; i < 60; ++i) {
      for (int j = 0; j < 150; ++j)
        values.push_back(312.542 * (11.8357 + static_cast<double>(rng.below(10))));
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back({1, 0, 0, 1, 0});
    }
    qp.K = make_kernel_quadratic(Linear{},
                                 std::make_shared<const Features>(Features::dense(150, values)));
    Smo options;
    options.stop.kkt = 1e-5;
    options.stop.iterations = 1'000'000;
    const Certified result = solved(qp, options);
    EXPECT_NE(result.solution.ended, Ended::iteration_limit) << seed;
    EXPECT_LT(result.certificate.relative_gap, 1e-6) << seed;
  }
}

TEST(Smo, SaysWhatItCannotTake) {
  DualQp qp = two_classes(10, 1);
  EXPECT_FALSE(refuses(qp, Smo{}).has_value());
  qp.A[0][3] *= 2;
  EXPECT_FALSE(refuses(qp, Smo{}).has_value());
  qp.A.emplace_back(qp.A[0]);
  qp.d.push_back(0);
  EXPECT_TRUE(refuses(qp, Smo{}).has_value());
  EXPECT_THROW(solved(qp, Smo{}), Error);
  qp.A.clear();
  qp.d.clear();
  EXPECT_FALSE(refuses(qp, Smo{}).has_value());
  qp.block[3].upper = infinity;
  EXPECT_TRUE(refuses(qp, Smo{}).has_value());
}

// The worst violators of all are growing ones of the first row and falling ones of the second,
// which make no pair.
TEST(Smo, EveryRowHasPairsInTheWorkingSet) {
  constexpr std::size_t each = 400;
  std::vector<double> values;
  DualQp qp;
  qp.A.assign(2, std::vector<double>(2 * each, 0.0));
  for (std::size_t i = 0; i < 2 * each; ++i) {
    values.push_back(100.0 * static_cast<double>(i));  // far from each other: K is the identity
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({1, 0, 0, 1, 0});
    qp.A[i / each][i] = 1;
  }
  qp.block[0].linear = 0.5;
  qp.block[2 * each - 1].linear = -0.5;
  qp.K =
      make_kernel_quadratic(Rbf{1.0}, std::make_shared<const Features>(Features::dense(1, values)));
  qp.d = {each / 2, each / 2};
  const Certified found = solved(qp, Smo{});
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_NEAR(found.solution.a[1], 0.5 + 0.5 / each, 1e-3);
  EXPECT_NEAR(found.solution.a[each], 0.5 - 0.5 / each, 1e-3);
}

}  // namespace
}  // namespace maxmargin::smo_test
