#include "maxmargin/problem/feasible.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::feasible_test {
namespace {

/// Bounds and rows alone: the matrix plays no part.
DualQp made(std::size_t variables, std::size_t rows, Rng& rng) {
  DualQp qp;
  for (std::size_t v = 0; v < variables; ++v) {
    const double lower = rng.below(4) == 0 ? -infinity : rng.uniform(-1, 0);
    const double upper = rng.below(4) == 0 ? infinity : rng.uniform(0.5, 2);
    qp.block.push_back({1, 0, lower, upper, 1});
  }
  for (std::size_t r = 0; r < rows; ++r) {
    qp.A.emplace_back();
    for (std::size_t v = 0; v < variables; ++v) qp.A[r].push_back(rng.normal());
    qp.d.push_back(0);
  }
  return qp;
}

void expect_feasible(const DualQp& qp, const std::vector<double>& a) {
  EXPECT_LE(equality_defect(qp, a), 1e-12);
  for (std::size_t v = 0; v < a.size(); ++v) {
    EXPECT_GE(a[v], qp.block[v].lower);
    EXPECT_LE(a[v], qp.block[v].upper);
  }
}

TEST(NearestFeasible, MeetsRowsAndBounds) {
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    DualQp qp = made(4 + rng.below(30), 1 + rng.below(4), rng);
    std::vector<double> inside, from;
    for (const Block& block : qp.block) {
      const double low = std::max(block.lower, -2.0), high = std::min(block.upper, 3.0);
      inside.push_back(rng.uniform(low, high));
      from.push_back(rng.below(3) == 0 ? (rng.below(2) == 0 ? low : high) : rng.uniform(low, high));
    }
    for (std::size_t r = 0; r < qp.A.size(); ++r)
      for (std::size_t v = 0; v < qp.size(); ++v) qp.d[r] += qp.A[r][v] * inside[v];
    const auto found = nearest_feasible(qp, from);
    ASSERT_TRUE(found.has_value()) << trial;
    expect_feasible(qp, *found);
  }
}

TEST(NearestFeasible, LeavesVariablesAtTheirBoundsWhereTheOthersSuffice) {
  DualQp qp;
  qp.block.assign(4, {1, 0, 0, 1, 0});
  qp.A = {{1, 1, -1, 2}};
  qp.d = {0.5};
  const auto found = nearest_feasible(qp, std::vector<double>{1, 0.5, 1, 0});
  ASSERT_TRUE(found.has_value());
  expect_feasible(qp, *found);
  EXPECT_EQ((*found)[0], 1);
  EXPECT_EQ((*found)[2], 1);
  EXPECT_EQ((*found)[3], 0);
  const auto none_free = nearest_feasible(qp, std::vector<double>{1, 1, 1, 0});
  ASSERT_TRUE(none_free.has_value());
  expect_feasible(qp, *none_free);
}

TEST(NearestFeasible, SaysWhereThereIsNoSuchPoint) {
  Rng rng(3);
  DualQp qp = made(10, 2, rng);
  for (Block& block : qp.block) block = {1, 0, 0, 1, 0};
  for (std::size_t v = 0; v < 10; ++v) qp.A[1][v] = 1 + rng.uniform();  // all positive
  qp.d = {0, -1};
  EXPECT_FALSE(nearest_feasible(qp, std::vector<double>(10, 0.5)).has_value());
  // The only point, in a corner, is found.
  qp.d = {0, 0};
  const auto corner = nearest_feasible(qp, std::vector<double>(10, 0.5));
  ASSERT_TRUE(corner.has_value());
  for (const double value : *corner) EXPECT_NEAR(value, 0, 1e-9);
}

TEST(NearestFeasible, OnlyVariablesWithSmallSlopesLeaveTheirBounds) {
  DualQp qp;
  const std::vector<double> from(6, 0.0);
  const std::vector<double> slope = {0.3, -0.01, 2, 0.01, -0.02, 5};
  for (std::size_t v = 0; v < from.size(); ++v) qp.block.push_back({1, 0, 0, 1, 0});
  qp.A = {std::vector<double>(6, 1.0)};
  qp.d = {1.5};
  const auto found = nearest_feasible(qp, from, slope, 0.01);
  ASSERT_TRUE(found.has_value());
  expect_feasible(qp, *found);
  for (const std::size_t v : {0u, 2u, 4u, 5u}) EXPECT_EQ((*found)[v], 0);
  EXPECT_NEAR((*found)[1], 0.75, 1e-12);
  EXPECT_NEAR((*found)[3], 0.75, 1e-12);
  qp.d = {2.5};  // two variables alone do not do it
  EXPECT_FALSE(nearest_feasible(qp, from, slope, 0.01).has_value());
  EXPECT_TRUE(nearest_feasible(qp, from, slope, 0.02).has_value());
}

TEST(NearestFeasible, EndsWhereSlopesAreNextToNothing) {
  DualQp qp;
  const std::vector<double> from(2, 0.0), slope = {3e-321, 4e-321};
  for (std::size_t v = 0; v < from.size(); ++v) qp.block.push_back({1, 0, 0, 1, 0});
  qp.A = {std::vector<double>(2, 1.0)};
  qp.d = {1};
  EXPECT_FALSE(gently_feasible(qp, from, slope, 0, 4e-321).has_value());
  EXPECT_TRUE(gently_feasible(qp, from, slope, 0, 1).has_value());
}

}  // namespace
}  // namespace maxmargin::feasible_test
