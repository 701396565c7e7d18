#include "maxmargin/problem/matrix/low_rank/approximate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::approximate_test {
namespace {

constexpr std::size_t points = 90;

std::shared_ptr<const DenseQuadratic> gaussian() {
  Rng rng(1);
  std::vector<double> x(2 * points), K;
  for (double& value : x) value = rng.uniform(-1, 1);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K.push_back(std::exp(
          -2 * (std::pow(x[2 * i] - x[2 * j], 2) + std::pow(x[2 * i + 1] - x[2 * j + 1], 2))));
  return std::make_shared<DenseQuadratic>(points, std::move(K));
}

Approximated approximated(Selection selection, std::size_t rank, int threads = 2,
                          double residual = 0) {
  Approximate options;
  options.selection = selection;
  options.rank = rank;
  options.residual = residual;
  options.candidates = 20;
  return approximate(*gaussian(), options, Threads(threads));
}

double entry(const LowRank& Z, std::size_t i, std::size_t j) {
  double sum = 0;
  for (std::size_t k = 0; k < Z.rank(); ++k) sum += Z.row(i)[k] * Z.row(j)[k];
  return sum;
}

/// Solves K_nn x = b by elimination with pivots.
std::vector<double> solved(std::vector<std::vector<double>> M, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
    std::swap(M[k], M[pivot]);
    std::swap(b[k], b[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j < n; ++j) M[i][j] -= factor * M[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) b[k] -= M[k][j] * b[j];
    b[k] /= M[k][k];
  }
  return b;
}

TEST(EstimatedRank, IsNearThatOfAllPoints) {
  Rng rng(5);
  constexpr std::size_t many = 500;
  std::vector<double> x(many);
  for (double& value : x) value = rng.uniform(-1, 1);
  const auto line = [&](double gamma) {
    std::vector<double> K;
    for (const double u : x)
      for (const double v : x) K.push_back(std::exp(-gamma * (u - v) * (u - v)));
    return DenseQuadratic(many, std::move(K));
  };
  for (const double gamma : {0.5, 20.0}) {
    Approximate how;
    how.selection = Selection::pivoted;
    how.residual = 1e-5;
    const std::size_t truth = approximate(line(gamma), how, Threads(1)).basis.size();
    const auto estimate = estimated_rank(line(gamma), 1e-5, Threads(1));
    ASSERT_TRUE(estimate);
    EXPECT_GE(*estimate, truth / 2) << gamma;
    EXPECT_LE(*estimate, truth * 2) << gamma;
  }
  EXPECT_FALSE(estimated_rank(line(1e8), 1e-5, Threads(1)));
}

class Selections : public testing::TestWithParam<Selection> {};

// (10.30): the coefficients of k~_i are those that K_nn^-1 gives; Z Z' is K_mn K_nn^-1 K_nm. A
// fresh solution for each point stands against the updates one basis function at a time.
TEST_P(Selections, EntriesAreThoseOfTheProjection) {
  const auto K = gaussian();
  const Approximated result = approximated(GetParam(), 12);
  ASSERT_EQ(result.basis.size(), 12u);
  std::vector<std::vector<double>> Knn;
  for (const Index i : result.basis) {
    Knn.emplace_back();
    for (const Index j : result.basis) Knn.back().push_back(K->at(i, j));
  }
  for (std::size_t i = 0; i < points; i += 7) {
    std::vector<double> k;
    for (const Index j : result.basis) k.push_back(K->at(i, j));
    const std::vector<double> alpha = solved(Knn, k);
    for (std::size_t j = 0; j < points; ++j) {
      double projected = 0;
      for (std::size_t b = 0; b < alpha.size(); ++b)
        projected += alpha[b] * K->at(result.basis[b], j);
      EXPECT_NEAR(entry(*result.Z, i, j), projected, 1e-9);
    }
  }
}

// (10.31): the residual trace is the sum of the squared distances |k_i - k~_i|^2, written out.
TEST_P(Selections, ResidualIsTheExplicitNorm) {
  const auto K = gaussian();
  const Approximated result = approximated(GetParam(), 9);
  std::vector<std::vector<double>> Knn;
  for (const Index i : result.basis) {
    Knn.emplace_back();
    for (const Index j : result.basis) Knn.back().push_back(K->at(i, j));
  }
  double sum = 0;
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> k;
    for (const Index j : result.basis) k.push_back(K->at(i, j));
    const std::vector<double> alpha = solved(Knn, k);
    double norm = K->at(i, i);
    for (std::size_t b = 0; b < alpha.size(); ++b) {
      norm -= 2 * alpha[b] * k[b];
      for (std::size_t c = 0; c < alpha.size(); ++c) norm += alpha[b] * alpha[c] * Knn[b][c];
    }
    sum += norm;
  }
  EXPECT_NEAR(result.residual.back(), sum, 1e-9 * result.trace);
  for (std::size_t n = 1; n < result.residual.size(); ++n)
    EXPECT_LE(result.residual[n], result.residual[n - 1]);
}

// sum_i beta_i k~_i written with the basis functions alone has the same values everywhere.
TEST_P(Selections, BasisFunctionsGiveTheSameFunction) {
  const auto K = gaussian();
  const Approximated result = approximated(GetParam(), 10);
  Rng rng(5);
  std::vector<double> beta(points);
  for (double& value : beta) value = rng.uniform(-1, 1);
  const std::vector<double> w = result.basis_coefficients(beta, Threads(1));
  for (std::size_t i = 0; i < points; ++i) {
    double one = 0, other = 0;
    for (std::size_t j = 0; j < points; ++j) one += beta[j] * entry(*result.Z, i, j);
    for (std::size_t b = 0; b < w.size(); ++b) other += w[b] * K->at(result.basis[b], i);
    EXPECT_NEAR(one, other, 1e-8);
  }
}

TEST_P(Selections, ThreadsDoNotChangeOneBit) {
  const Approximated one = approximated(GetParam(), 40, 1), three = approximated(GetParam(), 40, 3);
  EXPECT_EQ(one.basis, three.basis);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t k = 0; k < one.basis.size(); ++k)
      ASSERT_EQ(one.Z->row(i)[k], three.Z->row(i)[k]);
}

TEST_P(Selections, EndsAtTheResidualAskedFor) {
  const Approximated result = approximated(GetParam(), 0, 2, 1e-2);
  EXPECT_LE(result.residual.back(), 1e-2 * result.trace);
  EXPECT_LT(result.basis.size(), points / 2);
}

// More basis functions than K has rank: it ends where nothing is left, and finds K itself.
TEST_P(Selections, EndsWhereNothingIsLeft) {
  Rng rng(2);
  std::vector<double> x(points * 3), K;
  for (double& value : x) value = rng.uniform(-1, 1);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K.push_back(x[3 * i] * x[3 * j] + x[3 * i + 1] * x[3 * j + 1] + x[3 * i + 2] * x[3 * j + 2]);
  const DenseQuadratic linear(points, K);
  Approximate options;
  options.selection = GetParam();
  options.rank = 20;
  const Approximated result = approximate(linear, options, Threads(2));
  EXPECT_EQ(result.basis.size(), 3u);
  for (std::size_t i = 0; i < points; ++i)
    EXPECT_NEAR(entry(*result.Z, i, 0), linear.at(i, 0), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, Selections,
                         testing::Values(Selection::sgma, Selection::random, Selection::pivoted),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

// No K~ of the same rank can beat the eigenvectors; candidates come close (figure 10.3).
TEST(Approximate, IsNoBetterThanPrincipalComponents) {
  const std::vector<double> best = principal_residuals(*gaussian(), 20, Threads(2));
  for (const Selection selection : {Selection::sgma, Selection::random, Selection::pivoted}) {
    const Approximated result = approximated(selection, 20);
    for (std::size_t n = 0; n < 20; ++n)
      EXPECT_GE(result.residual[n], best[n] - 1e-10) << to_string(selection);
  }
  EXPECT_LE(approximated(Selection::sgma, 20).residual.back(), 10 * best.back());
}

TEST(Approximate, LowRankQuadraticIsItsOwnMatrix) {
  const Approximated result = approximated(Selection::pivoted, 8);
  const auto K = make_low_rank_quadratic(result.Z);
  const Threads threads(2);
  std::vector<double> x(points), y(points), block(2 * points);
  Rng rng(3);
  for (double& value : x) value = rng.uniform(-1, 1);
  K->multiply(x, y, Precision::fast, threads);
  for (std::size_t i = 0; i < points; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < points; ++j) sum += entry(*result.Z, i, j) * x[j];
    EXPECT_NEAR(y[i], sum, 1e-12);
    EXPECT_NEAR(K->diagonal()[i], entry(*result.Z, i, i), 1e-14);
  }
  const std::vector<Index> some = {4, 17, 60};
  const auto part = K->restrict_to(some);
  std::vector<float> row(3);
  std::vector<float*> out = {row.data()};
  part->rows(std::vector<Index>{1}, 0, 3, out, threads);
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_EQ(row[c], static_cast<float>(entry(*result.Z, 17, some[c])));
}

TEST(Approximate, GramIsTheDoubleLoop) {
  Rng rng(4);
  for (const std::size_t rank : {5u, 300u}) {
    LowRank Z(400, rank);
    for (std::size_t i = 0; i < 400 * rank; ++i) Z.row(0)[i] = rng.uniform(-1, 1);
    std::vector<Index> which;
    std::vector<double> weight;
    for (Index i = 1; i < 400; i += 3) {
      which.push_back(i);
      weight.push_back(rng.uniform(0.1, 2));
    }
    const std::vector<double> gram = Z.gram(which, weight, Threads(2));
    EXPECT_EQ(gram, Z.gram(which, weight, Threads(1)));
    for (std::size_t i = 0; i < rank; i += 17)
      for (std::size_t j = 0; j <= i; j += 11) {
        double sum = 0;
        for (std::size_t k = 0; k < which.size(); ++k)
          sum += weight[k] * Z.row(which[k])[i] * Z.row(which[k])[j];
        EXPECT_NEAR(gram[i * rank + j], sum, 1e-11);
      }
  }
}

// Problem 10.4: the best expansion in the values at the points, by the normal equations.
TEST(Approximate, ValuesAreFittedByLeastSquares) {
  const auto K = gaussian();
  const Approximated low = approximated(Selection::sgma, 12);
  std::vector<double> all(points * points);
  std::vector<Index> which(points);
  for (std::size_t i = 0; i < points; ++i) which[i] = static_cast<Index>(i);
  K->exact_block(which, 0, points, all.data(), points);
  const auto value = [&](std::size_t i, std::size_t j) { return all[i * points + j]; };
  const std::size_t row = 7, n = low.basis.size();
  std::vector<double> target(points);
  for (std::size_t i = 0; i < points; ++i) target[i] = value(row, i);
  std::vector<std::vector<double>> M(n, std::vector<double>(n, 0.0));
  std::vector<double> right(n, 0.0);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t i = 0; i < points; ++i) {
      right[a] += value(low.basis[a], i) * target[i];
      for (std::size_t b = 0; b < n; ++b)
        M[a][b] += value(low.basis[a], i) * value(low.basis[b], i);
    }
  const auto rest = [&](const std::vector<double>& c) {
    double sum = 0;
    for (std::size_t i = 0; i < points; ++i) {
      double f = 0;
      for (std::size_t a = 0; a < n; ++a) f += c[a] * value(low.basis[a], i);
      sum += (f - target[i]) * (f - target[i]);
    }
    return sum;
  };
  const std::vector<double> fitted = low.fitted(target, Threads(2));
  EXPECT_NEAR(rest(fitted), rest(solved(M, right)), 1e-9);
  // The projection in the space of the kernel is the best one there, and no better here.
  std::vector<double> unit(points, 0.0);
  unit[row] = 1;
  EXPECT_LE(rest(fitted), rest(low.basis_coefficients(unit, Threads(1))));
}

}  // namespace
}  // namespace maxmargin::approximate_test
