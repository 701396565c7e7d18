#include "maxmargin/solver/smo/pairs/grouped_gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin::grouped_gradient_test {
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
  std::vector<double> negative_gradient, growth, fall, diagonal;

  double up(std::size_t p) const { return negative_gradient[p] + growth[p]; }
  double down(std::size_t p) const { return negative_gradient[p] + fall[p]; }
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

/// Gradients at random, some of them of variables that cannot grow or fall.
void fill(Rng& rng, Plain& plain, GroupedGradient& gradient) {
  for (std::size_t p = 0; p < points; ++p) {
    plain.negative_gradient.push_back(rng.normal());
    plain.growth.push_back(rng.uniform() < 0.3 ? -infinity : 0.1);
    plain.fall.push_back(rng.uniform() < 0.3 ? infinity : -0.1);
    plain.diagonal.push_back(2 + rng.uniform());
    gradient.set_negative_gradient(p, plain.negative_gradient[p]);
    gradient.set_variables(p, plain.growth[p], plain.fall[p], plain.diagonal[p]);
  }
  gradient.measure_all();
}

void expect_same(const GroupedGradient& gradient, const Plain& plain) {
  for (std::size_t p = 0; p < points; ++p)
    ASSERT_NEAR(gradient.negative_gradient(p), plain.negative_gradient[p], 1e-12);
  const GroupedGradient::End high = gradient.highest(), low = gradient.lowest();
  EXPECT_EQ(high.point, plain.highest());
  EXPECT_EQ(low.point, plain.lowest());
  EXPECT_EQ(high.value, gradient.up(high.point));
  EXPECT_EQ(low.value, gradient.down(low.point));
}

TEST(GroupedGradient, FollowsRowsThatAreMostlyZero) {
  Rng rng(11);
  Plain plain;
  GroupedGradient gradient(points);
  fill(rng, plain, gradient);
  expect_same(gradient, plain);
  for (int k = 0; k < 30; ++k) {
    const Sparse row(rng);
    const double step = rng.normal();
    gradient.move(row.row(), step);
    for (std::size_t p = 0; p < points; ++p) plain.negative_gradient[p] -= step * row.dense[p];
    expect_same(gradient, plain);
  }
}

TEST(GroupedGradient, FindsThePartnerOfTheLargestGain) {
  Rng rng(12);
  Plain plain;
  GroupedGradient gradient(points);
  fill(rng, plain, gradient);
  for (int k = 0; k < 30; ++k) {
    const Sparse row(rng);
    const double from = rng.normal() - 1, own = 1.5;
    const GroupedGradient::Partner found = gradient.best_partner(row.row(), from, own);
    double best = 0;
    for (std::size_t p = 0; p < points; ++p)
      if (row.dense[p] != 0) best = std::max(best, plain.gain(row, p, from, own));
    ASSERT_NEAR(found.gain, best, 1e-5 * best);
    if (best > 0) {
      ASSERT_NEAR(plain.gain(row, found.point, from, own), best, 1e-5 * best);
    }
  }
  const Sparse row(rng);
  EXPECT_EQ(gradient.best_partner(row.row(), -100, 1).gain, 0);
}

TEST(GroupedGradient, WhatCannotMoveIsNoEnd) {
  GroupedGradient gradient(3);
  gradient.set_negative_gradient(0, 5);
  gradient.set_negative_gradient(2, -5);
  gradient.set_variables(1, 0, 0, 1);
  gradient.measure_all();
  EXPECT_EQ(gradient.highest().point, 1u);
  EXPECT_EQ(gradient.lowest().point, 1u);
  gradient.set_variables(1, -infinity, infinity, 1);
  gradient.measure(1);
  EXPECT_EQ(gradient.highest().value, -infinity);
  EXPECT_EQ(gradient.lowest().value, infinity);
}

}  // namespace
}  // namespace maxmargin::grouped_gradient_test
