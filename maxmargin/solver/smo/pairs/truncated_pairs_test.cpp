#include "maxmargin/solver/smo/pairs/truncated_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/cache/truncated_rows.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/smo/smo.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin::truncated_pairs_test {
namespace {

constexpr std::size_t ample = std::size_t{1} << 28;

/// Clusters on a line of noisy labels, that a narrow Gaussian hardly sees from one another.
Features clusters(std::size_t rows) {
  Rng rng(7);
  Features x = Features::dense(2);
  for (std::size_t i = 0; i < rows; ++i)
    x.append(std::vector<double>{static_cast<double>(i / 50) + 0.4 * rng.uniform(),
                                 0.4 * rng.uniform()});
  return x;
}

DualQp made(std::size_t rows, double gamma = 60) {
  DualQp qp;
  qp.K = make_kernel_quadratic(Rbf{gamma}, std::make_shared<const Features>(clusters(rows)));
  qp.A.emplace_back();
  qp.d = {0};
  return qp;
}

void add(DualQp& qp, std::size_t point, const Block& block) {
  qp.row.push_back(static_cast<Index>(point));
  qp.block.push_back(block);
  qp.A[0].push_back(block.sign);
}

DualQp classes(std::size_t rows, double cost, double curvature = 0) {
  DualQp qp = made(rows);
  Rng rng(3);
  for (std::size_t i = 0; i < rows; ++i)
    add(qp, i, {rng.uniform() < 0.5 ? 1.0 : -1.0, -1, 0, cost, curvature});
  return qp;
}

/// The two sides of a tube share a point.
DualQp tube(std::size_t rows) {
  DualQp qp = made(rows);
  Rng rng(4);
  for (std::size_t i = 0; i < rows; ++i) {
    const double y = rng.normal();
    add(qp, i, {1, 0.1 - y, 0, 3, 0});
    add(qp, i, {-1, 0.1 + y, 0, 3, 0});
  }
  return qp;
}

Active active_of(const DualQp& qp) {
  return Active(qp, sort_rows(qp), std::vector<double>(qp.size(), 0.0));
}

void expect_solved(DualQp qp, double target) {
  qp.K = cache_truncated_rows(qp.K, ample);
  const Threads threads(2);
  Active active = active_of(qp);
  ASSERT_TRUE(TruncatedPairs::can_take(active, CoupledRows()));
  const auto result = TruncatedPairs(active).improve(target, 1'000'000, threads);
  EXPECT_FALSE(result.lacks_room);
  EXPECT_LE(active.gradient(threads).violation(), target * (1 + 1e-9));
  double sum = 0, linear = 0, quadratic = 0;
  std::vector<double> x(qp.K->size(), 0.0), f(x.size());
  for (std::size_t v = 0; v < active.size(); ++v) {
    EXPECT_GE(active.beta[v], active.lower[v]);
    EXPECT_LE(active.beta[v], active.upper[v]);
    x[active.point[v]] += active.beta[v];
    sum += active.beta[v];
    linear += active.linear[v] * active.beta[v];
    quadratic += active.curvature[v] * active.beta[v] * active.beta[v] / 2;
  }
  EXPECT_NEAR(sum, 0, 1e-10);
  qp.K->multiply(x, f, Precision::exact, threads);
  for (std::size_t p = 0; p < f.size(); ++p) {
    EXPECT_NEAR(active.f[p], f[p], 1e-5);
    quadratic += x[p] * f[p] / 2;
  }
  EXPECT_NEAR(result.decrease, -linear - quadratic, 1e-5 * result.decrease);
}

TEST(TruncatedPairs, SolvesAProblemAndCarriesFAlong) {
  expect_solved(classes(600, 5), 1e-3);
  expect_solved(classes(600, 0.1), 1e-3);
  expect_solved(classes(600, infinity, 0.5), 1e-3);
  expect_solved(tube(600), 1e-3);
}

TEST(TruncatedPairs, GoesOnWhereItStopped) {
  DualQp qp = classes(600, 5);
  qp.K = cache_truncated_rows(qp.K, ample);
  const Threads alone(1);
  Active active = active_of(qp);
  std::size_t steps = 0, rounds = 0;
  while (active.gradient(alone).violation() > 1e-3 && ++rounds < 1000) {
    const auto result = TruncatedPairs(active).improve(1e-3, 100, alone);
    EXPECT_LE(result.steps, 100u);
    EXPECT_GT(result.decrease, 0);
    steps += result.steps;
  }
  EXPECT_LE(active.gradient(alone).violation(), 1e-3);
  EXPECT_GT(steps, 100u);
}

// The optimum is that of working sets, whatever the memory for rows.
TEST(TruncatedPairs, TheOptimumIsThatOfWorkingSets) {
  for (const DualQp& qp : {classes(800, 5), classes(800, 0.3), tube(600)}) {
    const Threads threads(2);
    Smo pairs;
    pairs.stop.kkt = 1e-5;
    pairs.stop.relative_gap = 1e-6;
    const Certified found = solve(qp, pairs, threads);
    ASSERT_EQ(found.solution.ended, Ended::converged);
    EXPECT_LE(found.certificate.kkt, 1.1e-5);
    for (const std::size_t bytes : {std::size_t{20'000}, std::size_t{200'000}}) {
      Smo sets = pairs;
      sets.cache_bytes = bytes;
      const Certified other = solve(qp, sets, threads);
      ASSERT_EQ(other.solution.ended, Ended::converged);
      EXPECT_NEAR(found.certificate.dual, other.certificate.dual,
                  2e-6 * std::abs(found.certificate.dual));
    }
  }
}

TEST(TruncatedPairs, ThreadsChangeNoBit) {
  const DualQp qp = classes(700, 4);
  std::vector<double> first;
  for (const int count : {1, 2, 4}) {
    const Threads threads(count);
    const Certified found = solve(qp, Smo(), threads);
    ASSERT_EQ(found.solution.ended, Ended::converged);
    if (first.empty()) first = found.solution.a;
    EXPECT_EQ(found.solution.a, first);
  }
}

TEST(TruncatedPairs, SaysWhenThereIsNoRoom) {
  DualQp qp = classes(600, 5);
  qp.K = cache_truncated_rows(qp.K, 60'000);
  const Threads alone(1);
  Active active = active_of(qp);
  const auto result = TruncatedPairs(active).improve(1e-3, 1'000'000, alone);
  EXPECT_TRUE(result.lacks_room);
  EXPECT_GT(active.gradient(alone).violation(), 1e-3);
}

}  // namespace
}  // namespace maxmargin::truncated_pairs_test
