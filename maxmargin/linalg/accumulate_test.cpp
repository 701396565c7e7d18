#include "maxmargin/linalg/accumulate.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::accumulate_test {
namespace {

TEST(Accumulate, AddsProductsOfRows) {
  Rng rng(9);
  for (const std::size_t count : {0, 1, 15, 16, 17, 300}) {
    std::vector<float> values(3 * count);
    for (float& value : values) value = static_cast<float>(rng.normal());
    const std::vector<const float*> rows{values.data(), values.data() + count,
                                         values.data() + 2 * count};
    std::vector<double> x(count), y{1, 2, 3};
    for (double& value : x) value = rng.normal();
    add_row_products(rows, x.data(), count, y.data());
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double want = static_cast<double>(r + 1);
      for (std::size_t c = 0; c < count; ++c) want += static_cast<double>(rows[r][c]) * x[c];
      EXPECT_NEAR(y[r], want, 1e-12);
    }
  }
}

TEST(Accumulate, AddsScaledRowsInDouble) {
  Rng rng(1);
  for (const std::size_t rows : {0, 1, 7, 8, 9, 30})
    for (const std::size_t count : {1, 5, 64, 2049, 4100}) {
      std::vector<float> values(rows * count);
      for (float& value : values) value = static_cast<float>(rng.normal());
      std::vector<const float*> pointers;
      std::vector<double> coefficients;
      for (std::size_t r = 0; r < rows; ++r) {
        pointers.push_back(values.data() + r * count);
        coefficients.push_back(rng.normal());
      }
      std::vector<double> y(count, 0.5), cut = y;
      add_scaled_rows(pointers, coefficients, count, y.data());
      for (std::size_t c = 0; c < count; ++c) {
        double want = 0.5;
        for (std::size_t r = 0; r < rows; ++r)
          want += coefficients[r] * static_cast<double>(pointers[r][c]);
        ASSERT_NEAR(y[c], want, 1e-13);
      }
      // The same bits however the columns are cut.
      const std::size_t first = count / 3;
      add_scaled_rows(pointers, coefficients, first, cut.data());
      for (const float*& row : pointers) row += first;
      add_scaled_rows(pointers, coefficients, count - first, cut.data() + first);
      ASSERT_EQ(y, cut);
    }
}

}  // namespace
}  // namespace maxmargin::accumulate_test
