#include "maxmargin/linalg/symmetric.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"

namespace maxmargin::symmetric_test {
namespace {

/// B B' / n + shift, by its lower triangle; the rest of each row is left as it was.
void fill(SymmetricMatrix& M, std::size_t n, double shift, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> B(n * 3);
  for (double& value : B) value = rng.uniform(-1, 1);
  M.shrink_to(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? shift : 0;
      for (std::size_t d = 0; d < 3; ++d) sum += B[i * 3 + d] * B[j * 3 + d];
      M.row(i)[j] = sum;
    }
}

std::vector<double> naive_product(const SymmetricMatrix& M, const std::vector<double>& x) {
  std::vector<double> y(M.size(), 0.0);
  for (std::size_t i = 0; i < M.size(); ++i)
    for (std::size_t j = 0; j < M.size(); ++j) y[i] += (j <= i ? M.row(i)[j] : M.row(j)[i]) * x[j];
  return y;
}

std::vector<double> random_vector(std::size_t n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> x(n);
  for (double& value : x) value = rng.uniform(-1, 1);
  return x;
}

// Sizes around the tiles' edges.
constexpr std::size_t sizes[] = {1, 2, 255, 256, 257, 700};
constexpr std::size_t room = 720;

TEST(Symmetric, ProductIsTheDoubleLoop) {
  const Threads threads(2);
  for (const std::size_t n : sizes) {
    SymmetricMatrix M(room);
    fill(M, n, 0.5, n);
    const std::vector<double> x = random_vector(n, 1), expected = naive_product(M, x);
    std::vector<double> y(n, 7.0);
    M.multiply(x, y, threads);
    for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], expected[i], 1e-12) << n;
  }
}

TEST(Symmetric, CholeskySolvesForSeveralRightHandSides) {
  const Threads threads(2);
  for (const std::size_t n : sizes) {
    Factor factor(room);
    fill(factor.matrix(), n, 0.5, n);
    SymmetricMatrix M(n);
    fill(M, n, 0.5, n);
    ASSERT_EQ(factor.cholesky(threads), Factor::Outcome::done);
    for (const std::size_t count : {1u, 3u}) {
      std::vector<double> b = random_vector(n * count, 2), x = b;
      factor.solve(x.data(), count, threads);
      for (std::size_t c = 0; c < count; ++c) {
        const std::vector<double> one(x.begin() + static_cast<std::ptrdiff_t>(c * n),
                                      x.begin() + static_cast<std::ptrdiff_t>((c + 1) * n));
        const std::vector<double> back = naive_product(M, one);
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(back[i], b[c * n + i], 1e-10) << n;
      }
    }
  }
}

TEST(Symmetric, BunchKaufmanSolvesWhereCholeskyBreaksDown) {
  const Threads threads(2);
  const std::size_t n = 300;
  Factor factor(room);
  fill(factor.matrix(), n, -0.7, 5);
  SymmetricMatrix M(n);
  fill(M, n, -0.7, 5);
  EXPECT_EQ(factor.cholesky(threads), Factor::Outcome::broke_down);
  fill(factor.matrix(), n, -0.7, 5);
  ASSERT_EQ(factor.bunch_kaufman(), Factor::Outcome::done);
  std::vector<double> b = random_vector(n, 2), x = b;
  factor.solve(x.data(), 1, threads);
  const std::vector<double> back = naive_product(M, x);
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(back[i], b[i], 1e-10);
}

TEST(Symmetric, ARidgeMakesUpForWhatRoundingHasTaken) {
  const Threads threads(1);
  const std::size_t n = 40;
  // 1 + v v', whose 1 is lost beside v v' in doubles.
  const std::vector<double> v = random_vector(n, 3);
  Factor factor(n);
  const auto fill_with = [&](double size) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) factor.matrix().row(i)[j] = size * v[i] * v[j];
      factor.matrix().row(i)[i] += 1;
    }
  };
  fill_with(1e20);
  ASSERT_EQ(factor.cholesky(threads), Factor::Outcome::broke_down);
  ASSERT_TRUE(factor.cholesky_with_ridge([&] { fill_with(1e20); }, threads));
  std::vector<double> x = v;
  factor.solve(x.data(), 1, threads);
  // Along v, x = v / (1 + 1e20 |v|^2).
  double along = 0;
  for (std::size_t i = 0; i < n; ++i) along += v[i] * x[i];
  EXPECT_NEAR(along * 1e20, 1, 0.01);
  EXPECT_FALSE(factor.cholesky_with_ridge([&] { fill_with(HUGE_VAL); }, threads));
  EXPECT_THROW(factor.require_cholesky([&] { fill_with(HUGE_VAL); }, threads), Error);
}

TEST(Symmetric, ThreadsDoNotChangeOneBit) {
  const std::size_t n = 700;
  const auto solved = [&](int count) {
    const Threads threads(count);
    Factor factor(n);
    fill(factor.matrix(), n, 0.5, 3);
    EXPECT_EQ(factor.cholesky(threads), Factor::Outcome::done);
    std::vector<double> x = random_vector(2 * n, 4), y(n);
    factor.solve(x.data(), 2, threads);
    SymmetricMatrix M(n);
    fill(M, n, 0.5, 3);
    M.multiply(std::span(x).first(n), y, threads);
    x.insert(x.end(), y.begin(), y.end());
    return x;
  };
  const std::vector<double> one = solved(1);
  EXPECT_EQ(one, solved(2));
  EXPECT_EQ(one, solved(3));
}

TEST(Symmetric, ALongFactorisationCanBeStopped) {
  const Threads threads(1);
  Factor factor(700);
  fill(factor.matrix(), 700, 0.5, 3);
  int asked = 0;
  EXPECT_EQ(factor.cholesky(threads, [&] { return ++asked < 2; }), Factor::Outcome::stopped);
}

TEST(Symmetric, SingularSmallSystemsGetTheShortestSolution) {
  // Two equal rows: x = y = 1 is the shortest solution of x + y = 2.
  std::vector<double> b = {2, 2};
  solve_small({1, 1, 1, 1}, b);
  EXPECT_NEAR(b[0], 1, 1e-14);
  EXPECT_NEAR(b[1], 1, 1e-14);
}

}  // namespace
}  // namespace maxmargin::symmetric_test
