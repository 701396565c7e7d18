#include "maxmargin/solver/equations/free_in_groups.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/small.hpp"

namespace maxmargin::free_in_groups_test {
namespace {

constexpr std::size_t groups = 4, members = 3;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A random symmetric definite matrix, row by row.
std::vector<double> definite(std::size_t size, Rng& rng) {
  std::vector<double> root(size * size), M(size * size, 0.0);
  for (double& each : root) each = rng.normal();
  for (std::size_t i = 0; i < size; ++i) {
    M[i * size + i] = 0.1;
    for (std::size_t j = 0; j < size; ++j)
      for (std::size_t k = 0; k < size; ++k)
        M[i * size + j] += root[i * size + k] * root[j * size + k];
  }
  return M;
}

/// min 1/2 x'Mx - b'x, M between member m of w and n of v being K(w, v) E(m, n).
struct Made {
  std::vector<double> K, E, b;
  BoundedPoint start;

  explicit Made(std::uint64_t seed) {
    Rng rng(seed);
    K = definite(groups, rng);
    E = definite(members, rng);
    for (std::size_t i = 0; i < groups * members; ++i) {
      b.push_back(rng.normal());
      const double upper = i % 5 == 0 ? infinity : rng.uniform(0.2, 1);
      start.add(i % 4 == 0 ? 0 : 0.1, 0, upper);
    }
  }

  double descent(std::span<const double> x, std::size_t w, std::size_t m) const {
    double sum = b[w * members + m];
    for (std::size_t v = 0; v < groups; ++v)
      for (std::size_t n = 0; n < members; ++n)
        sum -= K[w * groups + v] * E[m * members + n] * x[v * members + n];
    return sum;
  }
  double value(std::span<const double> x) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      sum -= x[i] * (b[i] + descent(x, i / members, i % members)) / 2;
    return sum;
  }
  std::vector<double> direction(const FreeInGroups& free) const {
    SmallMatrix M(free.size());
    free.put_matrix([&](std::size_t w) { return &K[w * groups]; },
                    [&](std::size_t m, std::size_t n) { return E[m * members + n]; },
                    [&](std::size_t r) { return &M(r, 0); });
    auto sides = free.right_sides(
        [&](std::size_t w, std::size_t m) { return descent(free.point().x, w, m); });
    return free.direction(solve_cholesky(std::move(M), std::move(sides), 1e-13));
  }
};

TEST(FreeInGroups, GoToTheMinimumWithTheSumsAndTheBoundsKept) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Made made(seed);
    FreeInGroups free(made.start, members);
    std::vector<bool> moved(made.start.size(), true);
    double before = made.value(made.start.x), length = 0;
    for (std::size_t step = 0; free.size() > 0 && length < 1; ++step) {
      ASSERT_LE(step, made.start.size());
      const std::vector<double> direction = made.direction(free);
      length = free.reach(direction);
      free.move(direction, length);
      free.hold(direction, length < 1 ? length : 0);
      const double after = made.value(free.point().x);
      EXPECT_LE(after, before + 1e-12);
      before = after;
      for (std::size_t i = 0; i < direction.size(); ++i) moved[i] = direction[i] != 0;
    }
    const BoundedPoint& point = free.point();
    for (std::size_t w = 0; w < groups; ++w) {
      double change = 0, least = infinity, most = -infinity;
      for (std::size_t m = 0; m < members; ++m) {
        const std::size_t i = w * members + m;
        EXPECT_GE(point.x[i], point.lower[i]);
        EXPECT_LE(point.x[i], point.upper[i]);
        // What stands at a bound at first stays there.
        if (made.start.x[i] == 0) {
          EXPECT_EQ(point.x[i], 0);
        }
        change += point.x[i] - made.start.x[i];
        if (!moved[i]) continue;
        least = std::min(least, made.descent(point.x, w, m));
        most = std::max(most, made.descent(point.x, w, m));
      }
      EXPECT_NEAR(change, 0, 1e-12);
      if (length == 1) {
        EXPECT_LE(most - least, 1e-9);
      }
    }
  }
}

TEST(FreeInGroups, WhatMeetsItsBoundStandsThereAndInfiniteRoomIsAllowed) {
  BoundedPoint start;
  start.add(0.1, 0, 1);
  start.add(infinity, 0, infinity);
  FreeInGroups free(start, 2);
  ASSERT_EQ(free.size(), 1u);
  const std::vector<double> direction = free.direction(std::vector<double>{-0.3});
  const double length = free.reach(direction);
  EXPECT_DOUBLE_EQ(length, 1.0 / 3);
  free.move(direction, length);
  EXPECT_EQ(free.point().x[0], 0);
  EXPECT_EQ(free.point().x[1], infinity);
  free.hold(direction, length);
  EXPECT_EQ(free.size(), 0u);
}

}  // namespace
}  // namespace maxmargin::free_in_groups_test
