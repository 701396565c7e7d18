#include "maxmargin/kernel/engine/product/decay_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"

namespace maxmargin::decay_product_test {
namespace {

constexpr std::size_t width = panel_width<float>;

/// Rows and the columns of one panel, and the sums that loops in double make of them.
struct Example {
  std::size_t features;
  AlignedVector<float> panel;
  std::vector<std::vector<float>> rows;
  std::vector<float> base;
  std::vector<double> coefficients, x;

  Example(std::size_t row_count, std::size_t feature_count, std::uint64_t seed)
      : features(feature_count), panel(feature_count * width), x(width) {
    Rng rng(seed);
    const double size = 0.6 / std::sqrt(static_cast<double>(features));
    for (float& value : panel) value = static_cast<float>(size * rng.normal());
    for (double& value : x) value = 3 * rng.normal();
    for (std::size_t r = 0; r < row_count; ++r) {
      rows.emplace_back(features);
      for (float& value : rows.back()) value = static_cast<float>(size * rng.normal());
      base.push_back(r % 3 == 0 ? 0.5f : 0.0f);
      coefficients.push_back(10 * rng.normal());
    }
  }

  double value(std::size_t r, std::size_t c) const {
    double sum = static_cast<double>(base[r]);
    for (std::size_t j = 0; j < features; ++j) {
      const double by = static_cast<double>(rows[r][j]) - static_cast<double>(panel[j * width + c]);
      sum += by * by;
    }
    return std::exp2(-sum);
  }
};

void expect_sums_of_loops(bool by_products) {
  for (const std::size_t features : {1, 2, 7, 8, 32})
    for (const std::size_t count : {1, 3, 4, 5, 9, 64}) {
      const Example example(count, features, count + features);
      const auto value = [&](std::size_t r, std::size_t c) {
        return by_products ? std::sqrt(example.value(r, c)) : example.value(r, c);
      };
      std::vector<const float*> rows;
      for (const auto& row : example.rows) rows.push_back(row.data());
      const DecayRows prepared(rows, example.base, features, example.coefficients, by_products);
      std::vector<double> once(width, 0.25), twice(width, 0.25), sums(count * lanes_of_sums, 1.0);
      add_decay_product(example.panel.data(), prepared, once.data());
      add_decay_products(example.panel.data(), prepared, example.x.data(), twice.data(),
                         sums.data());
      EXPECT_EQ(once, twice);
      for (std::size_t c = 0; c < width; ++c) {
        double expected = 0.25, size = 0;
        for (std::size_t r = 0; r < count; ++r) {
          expected += example.coefficients[r] * value(r, c);
          size += std::abs(example.coefficients[r]) * value(r, c);
        }
        ASSERT_NEAR(once[c], expected, 1e-6 * size) << features << " " << count;
      }
      for (std::size_t r = 0; r < count; ++r) {
        double expected = lanes_of_sums, size = 0, sum = 0;
        for (std::size_t c = 0; c < width; ++c) {
          expected += example.x[c] * value(r, c);
          size += std::abs(example.x[c]) * value(r, c);
        }
        for (std::size_t k = 0; k < lanes_of_sums; ++k) sum += sums[r * lanes_of_sums + k];
        ASSERT_NEAR(sum, expected, 1e-6 * size) << features << " " << count;
      }
    }
}

TEST(DecayProduct, AddsWhatLoopsInDoubleDo) {
  expect_sums_of_loops(false);
  expect_sums_of_loops(true);
}

TEST(DecayProduct, VanishesFarAway) {
  AlignedVector<float> panel(width, 1000.0f);
  const std::vector<float> row{0.0f}, base{0.0f};
  const std::vector<const float*> rows{row.data()};
  const std::vector<double> coefficients{1};
  for (const bool by_products : {false, true}) {
    std::vector<double> y(width, 0.0);
    add_decay_product(panel.data(), DecayRows(rows, base, 1, coefficients, by_products), y.data());
    EXPECT_EQ(y, std::vector<double>(width, 0.0));
  }
}

}  // namespace
}  // namespace maxmargin::decay_product_test
