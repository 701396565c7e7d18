#include "maxmargin/problem/matrix/cache/value_cache.hpp"

#include <gtest/gtest.h>

#include "tests/dense_quadratic.hpp"

namespace maxmargin::value_cache_test {
namespace {

std::shared_ptr<const DenseQuadratic> numbered(std::size_t size) {
  std::vector<double> values;
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) values.push_back(static_cast<double>(i * j + i + j));
  return std::make_shared<const DenseQuadratic>(size, values);
}

TEST(ValueCache, RowsThatWereNotUsedForLongestGoFirst) {
  const auto K = numbered(10);
  const Threads threads(1);
  ValueCache cache(K, 0, ValueCache::Unit::row, threads);
  ASSERT_EQ(cache.capacity(), 3u);
  for (const Index i : {0u, 1u, 2u, 0u, 3u}) {  // 1 goes
    const float* row = cache.row(i);
    for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(row[j], static_cast<float>(K->at(i, j)));
  }
  EXPECT_EQ(cache.use().asked, 50u);
  EXPECT_EQ(cache.use().found, 10u);
  cache.row(0);
  cache.row(2);
  EXPECT_EQ(cache.use().found, 30u);
  cache.row(1);
  EXPECT_EQ(cache.use().found, 30u);
  EXPECT_EQ(cache.row(1)[7], static_cast<float>(K->at(1, 7)));
}

TEST(ValueCache, ElementsAreThoseOfTheMatrixWhateverCollides) {
  const auto K = numbered(80);
  const Threads threads(1);
  ValueCache cache(K, 0, ValueCache::Unit::element, threads);
  EXPECT_EQ(cache.capacity(), 1024u);
  std::vector<Index> columns;
  for (Index j = 0; j < 80; j += 3) columns.push_back(j);
  std::vector<float> out(columns.size());
  for (int pass = 0; pass < 2; ++pass)
    for (Index i = 0; i < 80; ++i) {
      cache.values(i, columns, out.data());
      for (std::size_t c = 0; c < columns.size(); ++c)
        EXPECT_EQ(out[c], static_cast<float>(K->at(i, columns[c])));
      EXPECT_EQ(cache.value(i, 5), K->at(i, 5));
      EXPECT_EQ(cache.value(5, i), K->at(i, 5));
    }
  EXPECT_GT(cache.use().found, 0u);
  EXPECT_LT(cache.use().found, cache.use().asked);
}

TEST(ValueCache, ExactValuesAreNoFloats) {
  std::vector<double> values;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 9; ++j) values.push_back(1.0 / (1 + i + j));
  const auto K = std::make_shared<const DenseQuadratic>(9, values);
  const Threads threads(1);
  for (const auto unit : {ExactValueCache::Unit::row, ExactValueCache::Unit::element}) {
    ExactValueCache cache(K, 0, unit, threads);
    for (int pass = 0; pass < 2; ++pass)
      for (Index i = 0; i < 9; ++i) {
        EXPECT_EQ(cache.value(i, 4), K->at(i, 4));
        const double* row = cache.row(i);
        for (std::size_t j = 0; j < 9; ++j) EXPECT_EQ(row[j], K->at(i, j));
      }
    EXPECT_GT(cache.use().found, 0u);
  }
}

}  // namespace
}  // namespace maxmargin::value_cache_test
