#include "maxmargin/kernel/engine/product/binary_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/base/rng.hpp"

namespace maxmargin::binary_product_test {
namespace {

constexpr std::size_t width = panel_width<std::uint8_t>, half = width / 2;
constexpr std::size_t features = 130;

/// Rows of up to `most` features, at least one of them having none.
std::vector<std::vector<std::uint32_t>> made(std::size_t rows, std::size_t most, Rng& rng) {
  std::vector<std::vector<std::uint32_t>> lists(rows);
  for (std::size_t r = 1; r < rows; ++r) {
    const std::size_t wanted = rng.below(most + 1);
    for (std::uint32_t f = 0; f < features; ++f)
      if (rng.below(features) < wanted) lists[r].push_back(f);
  }
  return lists;
}

std::size_t differences(const std::vector<std::uint32_t>& x, const std::vector<std::uint32_t>& z) {
  std::vector<std::uint32_t> different;
  std::ranges::set_symmetric_difference(x, z, std::back_inserter(different));
  return different.size();
}

TEST(BinaryProduct, IsTheSumOverTheRows) {
  Rng rng(11);
  // Up to 15 common features fit into half a byte; rows come in groups of 8.
  for (const std::size_t most : {5, 15, 16, 40, 120}) {
    const auto columns = made(width, most, rng), rows = made(21, most, rng);
    AlignedVector<std::uint8_t> panel(features * half, 0);
    std::vector<std::uint8_t> column_base, base;
    for (std::size_t c = 0; c < width; ++c) {
      for (const std::uint32_t f : columns[c])
        panel[f * half + c % half] |= static_cast<std::uint8_t>(c < half ? 0x01 : 0x10);
      column_base.push_back(static_cast<std::uint8_t>(columns[c].size()));
    }
    std::vector<ListedRow<std::uint8_t>> lists;
    std::vector<double> coefficients;
    for (const auto& row : rows) {
      lists.push_back({row.data(), nullptr, row.size()});
      base.push_back(static_cast<std::uint8_t>(row.size()));
      coefficients.push_back(rng.uniform(-1, 1));
    }
    for (const double rate : {0.001, 0.1, 1.1}) {
      ASSERT_TRUE(BinaryProduct::is_possible(rate, features));
      const BinaryProduct product(rate);
      const BinaryRows binary = product.rows(lists, base, coefficients);
      std::vector<double> y(width, 0.5), plain = y;
      product.add(panel.data(), column_base.data(), binary, y.data());
      product.add_plainly(panel.data(), column_base.data(), binary, plain.data());
      for (std::size_t c = 0; c < width; ++c) {
        double want = 0.5, size = 0.5;
        for (std::size_t r = 0; r < rows.size(); ++r) {
          const auto s = static_cast<double>(differences(rows[r], columns[c]));
          want += coefficients[r] * std::exp(-rate * s);
          size += std::abs(coefficients[r]) * std::exp(-rate * s);
        }
        ASSERT_NEAR(y[c], want, 1e-13 * size) << most << " " << rate << " " << c;
        ASSERT_NEAR(plain[c], want, 1e-13 * size) << most << " " << rate << " " << c;
      }
    }
  }
}

TEST(BinaryProduct, LeavesRatesToOthersThatLeaveTheRangeOfADouble) {
  EXPECT_FALSE(BinaryProduct::is_possible(2, features));
  EXPECT_FALSE(BinaryProduct::is_possible(0.1, 70000));
}

}  // namespace
}  // namespace maxmargin::binary_product_test
