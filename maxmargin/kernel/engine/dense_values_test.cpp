#include "maxmargin/kernel/engine/dense_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace maxmargin::dense_values_test {
namespace {

/// Multiples of a unit, some of them zero.
std::vector<double> multiples(std::size_t count, double unit, std::mt19937_64& rng) {
  std::vector<double> values(count);
  for (double& value : values)
    value = rng() % 3 == 0 ? 0.0 : unit * (static_cast<double>(rng() % 4001) - 2000);
  return values;
}

TEST(DenseValues, HaveTheExtentOfEachAlone) {
  std::mt19937_64 rng(1);
  for (std::size_t count = 0; count < 40; ++count) {
    const std::vector<double> values = multiples(count, 0.25, rng);
    const std::vector<float> floats(values.begin(), values.end());
    DenseExtent plain{.smallest = std::numeric_limits<double>::infinity()};
    for (const double value : values) {
      plain.norm += value * value;
      plain.largest = std::max(plain.largest, std::abs(value));
      plain.lowest = std::min(plain.lowest, value);
      if (value == 0) continue;
      plain.smallest = std::min(plain.smallest, std::abs(value));
      ++plain.nonzeros;
    }
    for (const DenseExtent& extent :
         {dense_extent(values.data(), count), dense_extent(floats.data(), count)}) {
      EXPECT_EQ(extent.norm, plain.norm);  // sums of such numbers are exact
      EXPECT_EQ(extent.smallest, plain.smallest);
      EXPECT_EQ(extent.largest, plain.largest);
      EXPECT_EQ(extent.lowest, plain.lowest);
      EXPECT_EQ(extent.nonzeros, plain.nonzeros);
    }
  }
}

TEST(DenseValues, AreTheWholeNumbersThatTheUnitDivides) {
  std::mt19937_64 rng(2);
  for (const double size : {0.001, 1.0, 1.0 / 255}) {
    const Unit unit(size, 0);
    for (std::size_t count = 0; count < 40; ++count) {
      std::vector<double> values = multiples(count, size, rng);
      const std::vector<float> floats(values.begin(), values.end());
      std::vector<std::int16_t> units(count), of_floats(count);
      const WholeNumbers whole = whole_numbers(values.data(), count, unit, units.data());
      EXPECT_TRUE(whole.fit);
      EXPECT_TRUE(whole_numbers(floats.data(), count, unit, of_floats.data()).fit);
      EXPECT_EQ(units, of_floats);
      double norm = 0, unit_norm = 0;
      for (std::size_t i = 0; i < count; ++i) {
        double expected = 0;
        EXPECT_TRUE(unit.divides(values[i], expected));
        EXPECT_EQ(units[i], expected);
        norm += values[i] * values[i];
        unit_norm += expected * expected;
      }
      EXPECT_NEAR(whole.norm, norm, 1e-12 * norm);
      EXPECT_EQ(whole.unit_norm, unit_norm);
      if (count == 0) continue;
      double& one = values[rng() % count];
      for (const double wrong : {one + 0.4 * size, 40000 * size}) {
        const double before = std::exchange(one, wrong);
        EXPECT_FALSE(whole_numbers(values.data(), count, unit, nullptr).fit);
        one = before;
      }
    }
  }
}

}  // namespace
}  // namespace maxmargin::dense_values_test
