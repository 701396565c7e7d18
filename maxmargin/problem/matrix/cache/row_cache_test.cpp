#include "maxmargin/problem/matrix/cache/row_cache.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::row_cache_test {
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

/// Binary rows: their kernel rows are kept as bytes.
std::shared_ptr<const Quadratic> made_binary(std::size_t points) {
  Rng rng(3);
  Features rows = Features::sparse(30);
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<Index> features;
    for (Index j = 0; j < 30; ++j)
      if (rng.uniform() < 0.3) features.push_back(j);
    rows.append(features, std::vector<double>(features.size(), 1.0));
  }
  return make_kernel_quadratic(Rbf{0.1}, std::make_shared<const Features>(std::move(rows)));
}

/// Adds random rows again and again, most of which have been evicted or given back before, cuts the
/// problem in between, and compares with the matrix itself.
void compare_with_plain_rows(std::shared_ptr<const Quadratic> K, std::size_t row_bytes) {
  const Threads threads(2);
  RowCache cache(K, 25 * row_bytes, 2);
  ASSERT_EQ(cache.capacity(), 25u);
  Rng rng(2);
  for (int round = 0; round < 60; ++round) {
    if (round == 30) {
      std::vector<Index> remaining;
      for (Index p = 0; p < 120; p += 1 + rng.below(2)) remaining.push_back(p);
      const auto smaller = K->restrict_to(remaining);
      cache.restrict_to(smaller, remaining, threads);
      K = smaller;
    }
    RowCache::Wishes wishes;
    for (std::size_t p = 0; p < K->size(); ++p) wishes.precious.push_back(rng.uniform() < 0.3);
    std::vector<Index> points;
    std::vector<double> coefficients, f(K->size(), 0.5), want = f;
    for (Index p = static_cast<Index>(rng.below(4)); p < K->size() && points.size() < 20;
         p += static_cast<Index>(1 + rng.below(8))) {
      points.push_back(p);
      coefficients.push_back(rng.normal());
      wishes.keep.push_back(rng.uniform() < 0.7);
    }
    std::vector<bool> was_held;
    for (const Index point : points) was_held.push_back(cache.holds(point));
    cache.add(points, coefficients, wishes, f, threads);
    for (std::size_t k = 0; k < points.size(); ++k) {
      const std::vector<float> row = plain_row(*K, points[k], threads);
      EXPECT_EQ(cache.holds(points[k]), wishes.keep[k]);
      if (was_held[k] || wishes.keep[k])
        for (std::size_t c = 0; c < K->size(); ++c)
          want[c] += coefficients[k] * static_cast<double>(row[c]);
      else  // its values may be better than floats
        K->add_product(std::span(points).subspan(k, 1), std::span(coefficients).subspan(k, 1), want,
                       threads);
      if (!cache.holds(points[k])) continue;
      std::vector<float> picked(points.size());
      cache.pick(points[k], points, picked.data());
      for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(picked[i], row[points[i]]);
    }
    for (std::size_t c = 0; c < K->size(); ++c) ASSERT_NEAR(f[c], want[c], 1e-12);
  }
}

TEST(RowCache, RowsAreRightWhateverWasEvictedGivenBackOrCut) {
  compare_with_plain_rows(made(120, Rbf{0.5}), 128 * sizeof(float));
}

TEST(RowCache, KeepsDistancesOfBinaryRowsAsBytes) {
  const auto K = made_binary(120);
  ASSERT_NE(K->can().coded, nullptr);
  compare_with_plain_rows(K, 128);
}

TEST(RowCache, PreciousRowsStayLongest) {
  const Threads threads(1);
  const auto K = made(64, Rbf{0.5});
  RowCache cache(K, 10 * 64 * sizeof(float), 2);
  RowCache::Wishes wishes{{true}, std::vector<bool>(64, false)};
  wishes.precious[3] = true;
  std::vector<double> f(64, 0.0);
  for (Index p = 0; p < 60; ++p)
    cache.add(std::vector<Index>{p}, std::vector<double>{1.0}, wishes, f, threads);
  EXPECT_TRUE(cache.holds(3));
  EXPECT_FALSE(cache.holds(4));
  EXPECT_TRUE(cache.holds(59));
}

}  // namespace
}  // namespace maxmargin::row_cache_test
