#include "maxmargin/linalg/double_rows.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::double_rows_test {
namespace {

TEST(DoubleRows, LikeOneNumberAfterTheOther) {
  Rng rng(3);
  for (const std::size_t columns : {1, 2, 7, 8, 9, 20, 51}) {
    const std::size_t count = 13, stride = columns + 2;
    std::vector<float> x(count * columns);
    for (float& value : x) value = static_cast<float>(rng.normal());
    std::vector<double> wide(count * stride, -7), packed(count * columns), factor(count);
    widen_rows(x.data(), columns, count, stride, wide.data());
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      double square = 0;
      for (std::size_t j = 0; j < columns; ++j) {
        packed[i * columns + j] = static_cast<double>(x[i * columns + j]);
        square += packed[i * columns + j] * packed[i * columns + j];
        ASSERT_EQ(wide[i * stride + j], packed[i * columns + j]);
      }
      // What stands between the rows stays.
      ASSERT_EQ(wide[i * stride + columns], -7);
      largest = std::max(largest, square);
      factor[i] = i % 3 == 1 ? 0 : rng.normal();
    }
    EXPECT_NEAR(largest_square(packed.data(), columns, count), largest, 1e-14 * largest);
    std::vector<double> scaled(count * columns, -7);
    const std::size_t written =
        scale_rows(packed.data(), columns, count, factor.data(), scaled.data());
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; factor[i] != 0 && j < columns; ++j)
        ASSERT_EQ(scaled[at++], factor[i] * packed[i * columns + j]);
    EXPECT_EQ(at, written * columns);
    for (; at < scaled.size(); ++at) ASSERT_EQ(scaled[at], -7);
  }
}

}  // namespace
}  // namespace maxmargin::double_rows_test
