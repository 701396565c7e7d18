#include "maxmargin/linalg/small.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::small_test {
namespace {

TEST(SmallMatrix, IsSolvedByItsCholeskyFactors) {
  Rng rng(1);
  for (std::size_t n = 1; n <= 6; ++n) {
    SmallMatrix M(n);
    for (std::size_t k = 0; k < n + 2; ++k) {
      std::vector<double> x(n);
      for (double& value : x) value = rng.normal();
      M.add_outer(x, rng.uniform(0.5, 2));
    }
    std::vector<double> z(n), r(n, 0.0);
    for (double& value : z) value = rng.normal();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) r[i] += M(std::max(i, j), std::min(i, j)) * z[j];
    const std::vector<double> found = solve_cholesky(M, r, 1e-14);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found[i], z[i], 1e-8) << n;
  }
}

TEST(SmallMatrix, UnknownsThatItDoesNotDetermineStayZero) {
  SmallMatrix M(3);
  M.add_outer(std::vector<double>{1, 2, 0}, 1);
  M.add_outer(std::vector<double>{0, 0, 1}, 4);
  const std::vector<double> z = solve_cholesky(M, {3, 6, 8}, 1e-12);
  EXPECT_DOUBLE_EQ(z[0], 3);
  EXPECT_EQ(z[1], 0);
  EXPECT_DOUBLE_EQ(z[2], 2);
}

TEST(Orthonormal, FollowsItsRecipe) {
  Rng rng(2);
  std::vector<std::vector<double>> columns(3, std::vector<double>(20));
  for (auto& column : columns)
    for (double& value : column) value = 5 + rng.normal();
  const Orthonormal found = orthonormal(columns, 1e-9);
  ASSERT_FALSE(found.dependence.has_value());
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t other = 0; other <= c; ++other) {
      double product = 0;
      for (std::size_t i = 0; i < 20; ++i)
        product += found.directions[c][i] * found.directions[other][i];
      EXPECT_NEAR(product, c == other ? 1 : 0, 1e-14);
    }
    for (std::size_t i = 0; i < 20; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j <= c; ++j) sum += found.recipe[c][j] * columns[j][i];
      EXPECT_NEAR(sum, found.directions[c][i], 1e-13);
    }
  }
}

TEST(Orthonormal, NamesTheColumnThatDependsOnOthers) {
  Rng rng(2);
  std::vector<std::vector<double>> columns(3, std::vector<double>(20));
  for (auto& column : columns)
    for (double& value : column) value = rng.normal();
  std::vector<double> sum(20);
  for (std::size_t i = 0; i < 20; ++i) sum[i] = 2 * columns[0][i] - 0.5 * columns[2][i];
  columns.push_back(sum);
  const auto found = orthonormal(columns, 1e-9).dependence;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->column, 3u);
  EXPECT_NEAR(found->weight[0], 2, 1e-10);
  EXPECT_NEAR(found->weight[1], 0, 1e-10);
  EXPECT_NEAR(found->weight[2], -0.5, 1e-10);
  columns[1].assign(20, 0.0);
  EXPECT_EQ(orthonormal(columns, 1e-9).dependence->column, 1u);
}

}  // namespace
}  // namespace maxmargin::small_test
