#include "maxmargin/solver/smo/pairs/near_levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin::near_levels_test {
namespace {

constexpr std::size_t points = 1000;  // not a whole number of groups

/// A row with some blocks that are not zero.
struct Sparse {
  std::vector<std::uint32_t> blocks;
  AlignedVector<float> values;
  std::vector<double> dense = std::vector<double>(points, 0.0);

  explicit Sparse(Rng& rng) {
    for (std::uint32_t b = 0; b < (points + block_columns - 1) / block_columns; ++b) {
      if (rng.uniform() > 0.3) continue;
      blocks.push_back(b);
      for (std::size_t p = b * block_columns; p < (b + 1) * block_columns; ++p) {
        values.push_back(p < points ? static_cast<float>(rng.uniform()) : 0.0f);
        if (p < points) dense[p] = static_cast<double>(values.back());
      }
    }
  }
  BlockRow row() const { return {blocks, values.data()}; }
};

/// The same by plain loops.
struct Plain {
  std::vector<double> level, growth, fall, diagonal;

  double up(std::size_t p) const { return level[p] + growth[p]; }
  double down(std::size_t p) const { return level[p] + fall[p]; }
  std::size_t highest() const {
    std::size_t best = 0;
    for (std::size_t p = 0; p < points; ++p)
      if (up(p) > up(best)) best = p;
    return best;
  }
  std::size_t lowest() const {
    std::size_t best = 0;
    for (std::size_t p = 0; p < points; ++p)
      if (down(p) < down(best)) best = p;
    return best;
  }
  double gain(const Sparse& row, std::size_t p, double from, double own) const {
    const double by = std::max(from - down(p), 0.0);
    return by * by / (own + diagonal[p] - 2 * row.dense[p]);
  }
};

/// Levels at random, some of them of variables that cannot grow or fall.
void fill(Rng& rng, Plain& plain, NearLevels& levels) {
  for (std::size_t p = 0; p < points; ++p) {
    plain.level.push_back(rng.normal());
    plain.growth.push_back(rng.uniform() < 0.3 ? -infinity : 0.1);
    plain.fall.push_back(rng.uniform() < 0.3 ? infinity : -0.1);
    plain.diagonal.push_back(2 + rng.uniform());
    levels.set_level(p, plain.level[p]);
    levels.set_variables(p, plain.growth[p], plain.fall[p], plain.diagonal[p]);
  }
  levels.measure_all();
}

void expect_same(const NearLevels& levels, const Plain& plain) {
  for (std::size_t p = 0; p < points; ++p) ASSERT_NEAR(levels.level(p), plain.level[p], 1e-12);
  const NearLevels::End high = levels.highest(), low = levels.lowest();
  EXPECT_EQ(high.point, plain.highest());
  EXPECT_EQ(low.point, plain.lowest());
  EXPECT_EQ(high.value, levels.up(high.point));
  EXPECT_EQ(low.value, levels.down(low.point));
}

TEST(NearLevels, FollowsRowsThatAreMostlyZero) {
  Rng rng(11);
  Plain plain;
  NearLevels levels(points);
  fill(rng, plain, levels);
  expect_same(levels, plain);
  for (int k = 0; k < 30; ++k) {
    const Sparse row(rng);
    const double step = rng.normal();
    levels.move(row.row(), step);
    for (std::size_t p = 0; p < points; ++p) plain.level[p] -= step * row.dense[p];
    expect_same(levels, plain);
  }
}

TEST(NearLevels, FindsThePartnerOfTheLargestGain) {
  Rng rng(12);
  Plain plain;
  NearLevels levels(points);
  fill(rng, plain, levels);
  for (int k = 0; k < 30; ++k) {
    const Sparse row(rng);
    const double from = rng.normal() - 1, own = 1.5;
    const NearLevels::Partner found = levels.best_near(row.row(), from, own);
    double best = 0;
    for (std::size_t p = 0; p < points; ++p)
      if (row.dense[p] != 0) best = std::max(best, plain.gain(row, p, from, own));
    ASSERT_NEAR(found.gain, best, 1e-5 * best);
    if (best > 0) {
      ASSERT_NEAR(plain.gain(row, found.point, from, own), best, 1e-5 * best);
    }
  }
  const Sparse row(rng);
  EXPECT_EQ(levels.best_near(row.row(), -100, 1).gain, 0);
}

TEST(NearLevels, WhatCannotMoveIsNoEnd) {
  NearLevels levels(3);
  levels.set_level(0, 5);
  levels.set_level(2, -5);
  levels.set_variables(1, 0, 0, 1);
  levels.measure_all();
  EXPECT_EQ(levels.highest().point, 1u);
  EXPECT_EQ(levels.lowest().point, 1u);
  levels.set_variables(1, -infinity, infinity, 1);
  levels.measure(1);
  EXPECT_EQ(levels.highest().value, -infinity);
  EXPECT_EQ(levels.lowest().value, infinity);
}

}  // namespace
}  // namespace maxmargin::near_levels_test
