#include "maxmargin/problem/row_cache.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/kernel_quadratic.hpp"

namespace maxmargin {
namespace {

std::shared_ptr<const Quadratic> made(std::size_t points, const Kernel& kernel) {
  Rng rng(1);
  std::vector<double> values(points * 40);
  for (double& value : values) value = rng.uniform();
  return make_kernel_quadratic(kernel,
                               std::make_shared<const Features>(Features::dense(40, values)));
}

/// One row straight from the matrix.
std::vector<float> plain_row(const Quadratic& K, Index point, const Threads& threads) {
  std::vector<float> row(K.size());
  float* const out[] = {row.data()};
  K.rows({&point, 1}, 0, K.size(), out, threads);
  return row;
}

TEST(RowCache, RowsAreRightWhateverWasEvictedReleasedOrCut) {
  const Threads threads(2);
  std::shared_ptr<const Quadratic> K = made(120, Rbf{0.5});
  // Room for 25 rows: most of what is asked for has been evicted before.
  RowCache cache(K, 25 * 128 * sizeof(float), 2);
  ASSERT_EQ(cache.capacity(), 25u);
  Rng rng(2);
  for (int round = 0; round < 60; ++round) {
    if (round == 30) {
      std::vector<Index> remaining;
      for (Index p = 0; p < 120; p += 1 + rng.below(2)) remaining.push_back(p);
      const auto smaller = K->restrict_to(remaining);
      cache.restrict_to(smaller, remaining);
      K = smaller;
    }
    std::vector<bool> precious(K->size());
    for (std::size_t p = 0; p < K->size(); ++p) precious[p] = rng.uniform() < 0.3;
    std::vector<Index> points;
    for (Index p = static_cast<Index>(rng.below(4)); p < K->size() && points.size() < 20;
         p += static_cast<Index>(1 + rng.below(8)))
      points.push_back(p);
    const auto rows = cache.rows(points, precious, threads);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const std::vector<float> want = plain_row(*K, points[k], threads);
      for (std::size_t c = 0; c < K->size(); ++c) ASSERT_NEAR(rows[k][c], want[c], 1e-7);
      EXPECT_EQ(cache.row(points[k]), rows[k]);
    }
    if (round % 3 == 0) cache.release(points);
  }
}

TEST(RowCache, PreciousRowsStayLongest) {
  const Threads threads(1);
  const auto K = made(64, Rbf{0.5});
  RowCache cache(K, 10 * 64 * sizeof(float), 2);
  std::vector<bool> precious(64, false);
  precious[3] = true;
  for (Index p = 0; p < 60; ++p) cache.rows(std::vector<Index>{p}, precious, threads);
  EXPECT_TRUE(cache.holds(3));
  EXPECT_FALSE(cache.holds(4));
  EXPECT_TRUE(cache.holds(59));
}

}  // namespace
}  // namespace maxmargin
