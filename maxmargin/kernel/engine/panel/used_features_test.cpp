#include "maxmargin/kernel/engine/panel/used_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/panel/prepare.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::used_features_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rows of numbers, more than one task looks through, the last columns constant and without values.
Features some_rows(made::Storage storage, std::uint64_t seed) {
  Rng rng(seed);
  Features x = no_rows(storage == made::Storage::sparse, 7);
  for (std::size_t i = 0; i < 2 * rows_a_look + 100; ++i) {
    std::vector<double> row(7, 0.0);
    for (std::size_t j = 0; j < 5; ++j)
      row[j] = storage == made::Storage::sparse && rng.uniform() < 0.6
                   ? 0
                   : std::exp(2 * rng.normal()) - static_cast<double>(j);
    row[5] = 3;
    x.append(row);
  }
  return x;
}

std::vector<std::vector<double>> table_of(const Rows& rows) {
  std::vector<std::vector<double>> table(rows.count, std::vector<double>(rows.columns, 0.0));
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index j, double value) { table[i][j] = value; });
  return table;
}

TEST(Extent, IsThatOfALoopOverAllValues) {
  for (const made::Storage storage : {made::Storage::dense_doubles, made::Storage::sparse}) {
    const Features x = some_rows(storage, 1);
    const Rows rows = x;
    Extent want;
    want.smallest = infinity;
    for (std::size_t i = 0; i < rows.count; ++i) {
      double squares = 0, sizes = 0;
      std::size_t here = 0;
      rows.for_each(i, [&](Index, double value) {
        if (value == 0) return;
        squares += value * value;
        sizes += std::abs(value);
        ++here;
        want.smallest = std::min(want.smallest, std::abs(value));
        want.largest = std::max(want.largest, std::abs(value));
        want.negative = want.negative || value < 0;
      });
      want.norm = std::max(want.norm, squares);
      want.alone = std::max(want.alone, sizes);
      want.longest = std::max(want.longest, here);
      want.nonzeros += here;
    }
    const Extent found = extent_of(Summation(Pairing::manhattan), rows, Threads(2));
    EXPECT_NEAR(found.norm, want.norm, 1e-12 * want.norm);
    EXPECT_NEAR(found.alone, want.alone, 1e-12 * want.alone);
    EXPECT_EQ(found.smallest, want.smallest);
    EXPECT_EQ(found.largest, want.largest);
    EXPECT_EQ(found.nonzeros, want.nonzeros);
    EXPECT_EQ(found.longest, want.longest);
    EXPECT_EQ(found.negative, want.negative);
  }
}

TEST(CenteredFeatures, AreMeansAndMiddlesByALoopOverAllValues) {
  for (const made::Storage storage : {made::Storage::dense_doubles, made::Storage::sparse}) {
    const Features x = some_rows(storage, 2);
    const Rows rows = x;
    const std::vector<std::vector<double>> table = table_of(rows);
    const auto n = static_cast<double>(rows.count);
    const CenteredFeatures found =
        centered_features(Summation(Pairing::squared_euclidean), rows, Threads(2));
    std::vector<double> middles(7);
    for (std::size_t j = 0; j < 7; ++j) {
      double sum = 0, low = infinity, high = -infinity;
      for (std::size_t i = 0; i < rows.count; ++i) {
        const double value = table[i][j];
        sum += value;
        low = std::min(low, value);
        high = std::max(high, value);
      }
      middles[j] = (low + high) / 2;
      EXPECT_NEAR(found.means[j], sum / n, 1e-10 * (high - low)) << j;
    }
    EXPECT_EQ(found.used.count, 5u);  // the last ones have one value
    for (std::size_t j = 0; j < 7; ++j)
      EXPECT_EQ(found.used.number[j], j < 5 ? j : std::size_t{UsedFeatures::unused});
    double about_means = 0, about_middles = 0, sum = 0;
    for (std::size_t i = 0; i < rows.count; ++i) {
      double to_mean = 0, to_middle = 0;
      for (std::size_t j = 0; j < 7; ++j) {
        to_mean += std::pow(table[i][j] - found.means[j], 2);
        to_middle += std::pow(table[i][j] - middles[j], 2);
      }
      about_means = std::max(about_means, to_mean);
      about_middles = std::max(about_middles, to_middle);
      sum += to_mean;
    }
    ASSERT_LT(about_middles, about_means);  // few values are large
    EXPECT_NEAR(found.norm, about_middles, 1e-10 * about_middles);
    EXPECT_NEAR(found.norm_about_means, about_means, 1e-10 * about_means);
    EXPECT_NEAR(found.mean_norm, sum / n, 1e-10 * about_means);
    for (std::size_t j = 0; j < 7; ++j) EXPECT_DOUBLE_EQ(found.used.center[j], middles[j]);
  }
}

}  // namespace
}  // namespace maxmargin::used_features_test
