#include "maxmargin/solver/smo/pairs/cached_pairs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::cached_pairs_test {
namespace {

constexpr std::size_t ample = std::size_t{1} << 28;

enum class Rows { one, by_side };

/// A tube about noise: two variables share a point, in one equality row or in one each. Their
/// number is no multiple of that of lanes.
DualQp tube(std::size_t points, Rows rows) {
  Rng rng(4);
  Features x = Features::dense(40);
  std::vector<double> row(40);
  for (std::size_t i = 0; i < points; ++i) {
    for (double& value : row) value = rng.normal();
    x.append(row);
  }
  DualQp qp;
  qp.K = make_kernel_quadratic(Rbf{0.02}, std::make_shared<const Features>(std::move(x)));
  qp.A.resize(rows == Rows::one ? 1 : 2);
  qp.d.assign(qp.A.size(), 0.0);
  for (std::size_t i = 0; i < points; ++i) {
    const double y = rng.normal();
    for (const double sign : {1.0, -1.0}) {
      qp.row.push_back(static_cast<Index>(i));
      const double width = rows == Rows::one ? 0.1 : 0;
      qp.block.push_back({sign, width - sign * y, 0, 3, 0});
      const std::size_t r = rows == Rows::one || sign > 0 ? 0 : 1;
      for (std::size_t each = 0; each < qp.A.size(); ++each)
        qp.A[each].push_back(each == r ? sign : 0);
      if (rows == Rows::by_side) qp.d[r] += sign * 0.5;
    }
  }
  return qp;
}

Active active_of(const DualQp& qp, const Threads& threads) {
  std::vector<double> a(qp.size(), qp.A.size() == 1 ? 0.0 : 0.5);
  Active active(qp, sort_rows(qp), a);
  qp.K->multiply(qp.coefficients(a), active.f, Precision::fast, threads);
  return active;
}

double objective(const Active& active) {
  double sum = 0;
  for (std::size_t v = 0; v < active.size(); ++v)
    sum += active.beta[v] * (active.linear[v] + active.f[active.point[v]] / 2);
  return sum;
}

void expect_solved(const DualQp& qp) {
  const Threads threads(2);
  Active active = active_of(qp, threads);
  RowCache cache(qp.K, ample, 2);
  ASSERT_TRUE(CachedPairs::can_take(active, CoupledRows(), cache));
  const double before = objective(active);
  double decrease = 0;
  std::size_t rounds = 0;
  // With few steps at a time: it goes on where it stopped.
  while (active.gradient(threads).violation() > 1e-3 && ++rounds < 1000) {
    const CachedPairs::Result result = CachedPairs(active, cache).improve(1e-3, 100, threads);
    EXPECT_LE(result.steps, 100u);
    EXPECT_GT(result.decrease, 0);
    decrease += result.decrease;
  }
  EXPECT_LE(active.gradient(threads).violation(), 1e-3);
  EXPECT_GT(rounds, 3u);
  std::vector<double> sums(active.rows(), 0.0), x(active.f.size(), 0.0), f(active.f.size());
  for (std::size_t v = 0; v < active.size(); ++v) {
    EXPECT_GE(active.beta[v], active.lower[v]);
    EXPECT_LE(active.beta[v], active.upper[v]);
    x[active.point[v]] += active.beta[v];
    sums[active.row[v]] += active.beta[v];
  }
  for (std::size_t r = 0; r < sums.size(); ++r) EXPECT_NEAR(sums[r], qp.d[r], 1e-9);
  qp.K->multiply(x, f, Precision::exact, threads);
  for (std::size_t p = 0; p < f.size(); ++p) EXPECT_NEAR(active.f[p], f[p], 1e-5);
  EXPECT_NEAR(decrease, before - objective(active), 1e-6 * decrease);
}

TEST(CachedPairs, SolvesAProblemAndCarriesFAlong) { expect_solved(tube(301, Rows::one)); }

TEST(CachedPairs, KeepsEveryEqualityRow) { expect_solved(tube(243, Rows::by_side)); }

TEST(CachedPairs, SameBitsForAnyNumberOfThreads) {
  const DualQp qp = tube(301, Rows::one);
  std::vector<std::vector<double>> beta;
  for (const int count : {1, 3}) {
    const Threads threads(count);
    Active active = active_of(qp, threads);
    RowCache cache(qp.K, ample, 2);
    CachedPairs(active, cache).improve(1e-3, 100'000, threads);
    beta.push_back(active.beta);
  }
  EXPECT_EQ(beta[0], beta[1]);
}

TEST(CachedPairs, EndsWhereItsRowsHaveNoMoreRoom) {
  const Threads threads(1);
  const DualQp qp = tube(301, Rows::one);
  Active active = active_of(qp, threads);
  RowCache cache(qp.K, 100 * (320 * sizeof(float) + 64), 2);
  ASSERT_LT(cache.capacity(), 301u);
  CachedPairs(active, cache).improve(1e-3, 100'000, threads);
  EXPECT_LE(cache.size(), cache.capacity());
  EXPECT_GT(active.gradient(threads).violation(), 1e-3);
}

TEST(CachedPairs, NeedsRoomForAllRowsAndNoCurvature) {
  const Threads threads(1);
  DualQp qp = tube(100, Rows::one);
  const Active active = active_of(qp, threads);
  EXPECT_FALSE(CachedPairs::can_take(active, CoupledRows(), RowCache(qp.K, 4096, 2)));
  qp.block[3].curvature = 0.5;
  EXPECT_FALSE(
      CachedPairs::can_take(active_of(qp, threads), CoupledRows(), RowCache(qp.K, ample, 2)));
  qp = tube(100, Rows::one);
  qp.row[2] = qp.row[0];  // a third variable of the first point
  EXPECT_FALSE(
      CachedPairs::can_take(active_of(qp, threads), CoupledRows(), RowCache(qp.K, ample, 2)));
}

}  // namespace
}  // namespace maxmargin::cached_pairs_test
