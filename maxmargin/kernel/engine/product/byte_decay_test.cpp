#include "maxmargin/kernel/engine/product/byte_decay.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::byte_decay_test {
namespace {

TEST(ByteDecay, ValuesAreExponentialsToFloatPrecision) {
  for (const double rate : {1.0 / 123, 0.05, 0.5}) {
    const ByteDecay decay(rate);
    for (int s = 0; s < 256; ++s) {
      const double want = std::exp(-rate * s);
      EXPECT_NEAR(static_cast<double>(decay.value(static_cast<std::uint8_t>(s))), want,
                  3e-7 * want + 1e-37);
    }
  }
}

TEST(ByteDecay, SumsHaveTheSameBitsHoweverTheColumnsAreCut) {
  const ByteDecay decay(0.07);
  Rng rng(1);
  constexpr std::size_t rows = 11, columns = 77;
  std::vector<std::vector<std::uint8_t>> codes(rows, std::vector<std::uint8_t>(columns));
  std::vector<double> coefficients(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    coefficients[r] = rng.normal();
    for (auto& code : codes[r]) code = static_cast<std::uint8_t>(rng.below(256));
  }
  const auto add = [&](std::size_t begin, std::size_t end, std::vector<double>& y) {
    std::vector<const std::uint8_t*> pointers;
    for (const auto& row : codes) pointers.push_back(row.data() + begin);
    decay.add_scaled_rows(pointers, coefficients, end - begin, y.data() + begin);
  };
  std::vector<double> whole(columns, 0.25), cut = whole;
  add(0, columns, whole);
  add(0, 33, cut);
  add(33, 64, cut);
  add(64, columns, cut);
  EXPECT_EQ(whole, cut);
  for (std::size_t c = 0; c < columns; ++c) {
    double want = 0.25;
    for (std::size_t r = 0; r < rows; ++r)
      want += coefficients[r] * static_cast<double>(decay.value(codes[r][c]));
    EXPECT_NEAR(whole[c], want, 1e-13);
  }
}

}  // namespace
}  // namespace maxmargin::byte_decay_test
