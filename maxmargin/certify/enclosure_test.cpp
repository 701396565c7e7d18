#include "maxmargin/certify/enclosure.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/certify/certify.hpp"
#include "maxmargin/certify/equality_price.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::enclosure_test {
namespace {

TEST(EnclosedSum, IsBetweenItsBoundsWhateverCancels) {
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    EnclosedSum sum;
    ExactSum exact;
    for (int k = 0; k < 40; ++k) {
      const double term = rng.normal() * std::pow(10, rng.uniform(-12, 12));
      const double wrong = term * (1 + 1e-9 * rng.uniform(-1, 1));
      exact.add(term);
      sum.add(wrong, std::abs(wrong - term) * (1 + 1e-6));
      if (k % 3 != 0) continue;
      exact.add(-term);
      sum.add(-term);
    }
    EXPECT_LE(sum.lower(), exact.value());
    EXPECT_GE(sum.upper(), exact.value());
  }
}

TEST(EnclosedSum, ZeroIsZeroAndWhatIsNoNumberIsInfinite) {
  EnclosedSum none, zeros, odd;
  zeros.add(0);
  zeros.add(-0.0);
  odd.add(1);
  odd.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(none.upper(), 0);
  EXPECT_EQ(zeros.upper(), 0);
  EXPECT_EQ(zeros.lower(), 0);
  EXPECT_EQ(odd.upper(), infinity);
  EXPECT_EQ(odd.lower(), -infinity);
}

TEST(ExactSum, KnowsWhetherItIsZero) {
  ExactSum sum;
  for (int k = 0; k < 10; ++k) sum.add_product(0.1, 1e17);
  for (int k = 0; k < 10; ++k) sum.add_product(-0.1, 1e17);
  EXPECT_EQ(sum.value(), 0);
  sum.add(1e-300);
  EXPECT_EQ(sum.value(), 1e-300);
}

/// Blocks of every kind that a loss has.
std::vector<Block> kinds() {
  return {{1, -1, 0, 2, 0},
          {-1, -1, 0, 1e6, 0},
          {1, 0.3, 0, 5, 0},
          {1, -1, 0, infinity, 0.25},
          {-1, -0.5, -3, 3, 0.125},
          {1, -0.7, -infinity, infinity, 1e-4},
          {1, -1, -0.25, 0.75, 0},
          {1, -0.2, 0, 2, 0, Entropy::logistic},
          {-1, -0.4, 0, infinity, 0, Entropy::exponential, 1.5}};
}

long double true_value(const Block& block, long double t) {
  const auto log_term = [](long double x, long double of) {
    return x > 0 ? x * std::log(x / of) : 0;
  };
  long double value = block.linear * t + block.curvature * t * t / 2;
  if (block.entropy == Entropy::logistic)
    value += log_term(t, block.upper) + log_term(block.upper - t, block.upper);
  if (block.entropy == Entropy::exponential) value += log_term(t, block.scale) - t;
  return value;
}

long double true_conjugate(const Block& block, long double slope) {
  const long double rest = slope - block.linear;
  if (block.entropy == Entropy::exponential) return block.scale * std::exp(rest);
  if (block.entropy == Entropy::logistic)
    return block.upper * (std::max(rest, 0.0L) + std::log1p(std::exp(-std::abs(rest))));
  long double t = rest > 0 ? block.upper : block.lower;
  if (block.curvature > 0)
    t = std::clamp(rest / block.curvature, static_cast<long double>(block.lower),
                   static_cast<long double>(block.upper));
  return rest * t - block.curvature * t * t / 2;
}

/// Random variables of all kinds over a random matrix Z Z', one equality row.
struct Drawn {
  DualQp qp;
  std::vector<double> a, lambda;
  std::size_t n;

  explicit Drawn(std::uint64_t seed) {
    Rng rng(seed);
    n = 4 + rng.below(12);
    const std::size_t rank = 1 + rng.below(n);
    const double scale = std::pow(10, rng.uniform(-3, 3));
    std::vector<double> Z(n * rank), K(n * n, 0.0);
    for (double& z : Z) z = static_cast<float>(scale * rng.normal());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t k = 0; k < rank; ++k) K[i * n + j] += Z[i * rank + k] * Z[j * rank + k];
    qp.K = std::make_shared<DenseQuadratic>(n, K);
    qp.A.assign(1, {});
    const std::vector<Block> blocks = kinds();
    double sum = 0;
    for (std::size_t v = 0; v < 2 * n; ++v) {
      const Block& block = blocks[rng.below(blocks.size())];
      qp.row.push_back(static_cast<Index>(v % n));
      qp.block.push_back(block);
      qp.A[0].push_back(block.sign);
      const double low = std::max(block.lower, -2.0), high = std::min(block.upper, 4.0);
      const auto at = block.entropy == Entropy::none ? rng.below(4) : 3;
      a.push_back(at == 0 ? low : at == 1 ? high : rng.uniform(low, high));
      sum += block.sign * a.back();
    }
    qp.d = {sum};
    lambda = {rng.normal()};
  }

  std::vector<long double> product() const {
    std::vector<long double> f(n, 0);
    const auto& K = static_cast<const DenseQuadratic&>(*qp.K);
    for (std::size_t v = 0; v < qp.size(); ++v)
      for (std::size_t i = 0; i < n; ++i)
        f[i] += static_cast<long double>(qp.block[v].sign) * a[v] * K.at(i, qp.row[v]);
    return f;
  }
  long double primal(const std::vector<long double>& f) const {
    long double sum = static_cast<long double>(lambda[0]) * qp.d[0];
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      const long double q = block.sign * f[qp.row[v]];
      sum += a[v] * q / 2 +
             true_conjugate(block, -(q + static_cast<long double>(block.sign) * lambda[0]));
    }
    return sum;
  }
  long double dual(const std::vector<long double>& f) const {
    long double sum = 0;
    for (std::size_t v = 0; v < qp.size(); ++v)
      sum -= a[v] * (qp.block[v].sign * f[qp.row[v]]) / 2 + true_value(qp.block[v], a[v]);
    return sum;
  }
};

TEST(Enclosure, HoldsForEveryKindOfLossAndFAsWrongAsItMayBe) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Drawn drawn(seed);
    Rng rng(seed + 77);
    const std::vector<long double> truth = drawn.product();
    const double error = rng.below(3) == 0 ? 1e-14 : std::pow(10, rng.uniform(-12, -1));
    std::vector<double> f(drawn.n);
    for (const double towards : {-1.0, 1.0, 0.0}) {
      for (std::size_t p = 0; p < drawn.n; ++p) {
        const double side = towards != 0 ? towards : rng.uniform(-1, 1);
        f[p] = static_cast<double>(truth[p]) +
               0.999 * side * error * std::sqrt(drawn.qp.K->diagonal()[p]);
      }
      const double rounding = 4e-16 * std::abs(static_cast<double>(drawn.dual(truth)));
      const Enclosure found = enclose(drawn.qp, drawn.a, f, {error + 1e-15}, drawn.lambda);
      EXPECT_GE(found.primal, drawn.primal(truth)) << seed;
      EXPECT_LE(found.dual, drawn.dual(truth) + rounding) << seed;
      // And it is no wider than what the error can do.
      const Enclosure exact = enclose(drawn.qp, drawn.a, f, {}, drawn.lambda);
      EXPECT_LE(found.gap, exact.gap * (1 + 1e-9) + 1e-9);
      EXPECT_LE(exact.primal, found.primal);
      EXPECT_GE(exact.dual, found.dual);
    }
  }
}

TEST(Enclosure, AHardMarginIsThatOfTheSmallestMarginThatIsSure) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 0, 0, 1});
  qp.row = {0, 1};
  qp.block = {{1, -1, 0, infinity, 0}, {-1, -1, 0, infinity, 0}};
  const std::vector<double> a = {1, 1}, f = {1, -1};
  const Enclosure exact = enclose(qp, a, f, {}, {});
  EXPECT_NEAR(exact.primal, 1, 1e-14);
  EXPECT_GE(exact.primal, 1);
  const Enclosure doubtful = enclose(qp, a, f, {0.1}, {});
  EXPECT_GE(doubtful.primal, 1.1 / (0.9 * 0.9));
  EXPECT_EQ(enclose(qp, a, f, {1.1}, {}).primal, infinity);
}

// Without a loss that is known to be 0 from a margin on, no stretching makes the primal finite.
TEST(Enclosure, HardBlocksThatAreNoMarginsBoundNothing) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(1, std::vector<double>{1});
  qp.row = {0};
  const std::vector<double> a = {1}, f = {2};
  for (const Block& block :
       {Block{1, -1, -1, infinity, 0}, Block{1, 1, 0, infinity, 0}, Block{1, 0, 0, infinity, 0}}) {
    qp.block = {block};
    EXPECT_EQ(enclose(qp, a, f, {}, {}).primal, infinity) << block.linear << " " << block.lower;
  }
  qp.block = {{1, -1, 0, infinity, 0}};
  EXPECT_LT(enclose(qp, a, f, {}, {}).primal, infinity);
}

// x log x is 0 at 0, and as exact as that.
TEST(Enclosure, EntropiesHaveValuesAtTheirBounds) {
  const Block logistic{1, -0.2, 0, 2, 0, Entropy::logistic};
  for (const double t : {0.0, 2.0}) {
    const Near value = value_at(logistic, t);
    EXPECT_DOUBLE_EQ(value.value, -0.2 * t);
    EXPECT_LE(value.error, 1e-14);
  }
  const Near value = value_at({-1, -0.4, 0, infinity, 0, Entropy::exponential, 1.5}, 0);
  EXPECT_EQ(value.value, 0);
  EXPECT_EQ(value.error, 0);
}

TEST(Enclosure, SoftMarginsDoNotStretch) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 0, 0, 1});
  qp.row = {0, 1};
  qp.block = {{1, -1, 0, 1, 0}, {1, -1, 0, infinity, 0}};
  const std::vector<double> a = {0.5, 2}, f = {0.5, 2};
  // Half of f keeps the hard margin: |w|^2 / 2 is a quarter, and the soft one lacks 0.75.
  const double expected = (0.25 + 4) / 2 / 4 + 0.75;
  const Enclosure found = enclose(qp, a, f, {}, {});
  EXPECT_NEAR(found.primal, expected, 1e-14);
  EXPECT_GE(found.primal, expected);
}

TEST(Enclosure, WhatIsOutsideItsBoundsOrNoNumberHasNoDual) {
  const Drawn drawn(5);
  std::vector<double> a = drawn.a, f(drawn.n, 1.0);
  a[0] = drawn.qp.block[0].lower - 1;
  EXPECT_EQ(enclose(drawn.qp, a, f, {}, drawn.lambda).dual, -infinity);
  f[1] = std::numeric_limits<double>::quiet_NaN();
  const Enclosure odd = enclose(drawn.qp, drawn.a, f, {}, drawn.lambda);
  EXPECT_EQ(odd.primal, infinity);
  EXPECT_EQ(odd.dual, -infinity);
  EXPECT_EQ(odd.gap, infinity);
}

/// Two variables of opposite signs on points at right angles: min 1/2 |a|^2 - sum a, a_0 = a_1.
DualQp pair_of(double residual) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 0, 0, 1});
  qp.row = {0, 1};
  qp.block = {{1, -1, 0, 10, 0}, {-1, -1, 0, 10, 0}};
  qp.A = {{1, -1}};
  qp.d = {residual};
  return qp;
}

TEST(EqualityPrice, IsWhatTheNearestPointThatFulfilsItCostsAtMost) {
  const std::vector<double> a = {0.5, 0.5}, q = {0.5, 0.5}, none = {0, 0};
  EXPECT_EQ(equality_price(pair_of(0), a, q, none), 0);
  const double price = equality_price(pair_of(0.01), a, q, none);
  // One of them moves by 0.01 along a slope of -0.5.
  EXPECT_GE(price, 0.5 * 0.01);
  EXPECT_LE(price, 0.5 * 0.01 + 1e-4);
  EXPECT_EQ(equality_price(pair_of(100), a, q, none), infinity);
}

TEST(EqualityPrice, RowsThatShareTheirVariablesMoveSeveral) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(3, std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  qp.row = {0, 1, 2};
  qp.block.assign(3, {1, -1, 0, 10, 0});
  qp.A = {{1, 1, 1}, {1, 2, 4}};
  qp.d = {3.001, 7.002};
  const std::vector<double> a = {1, 1, 1}, q = {1, 1, 1}, none = {0, 0, 0};
  const double price = equality_price(qp, a, q, none);
  EXPECT_GT(price, 0);
  EXPECT_LT(price, 1e-4);
  qp.d = {3, 7};
  EXPECT_EQ(equality_price(qp, a, q, none), 0);
}

TEST(EqualityPrice, OfRowsWithoutCommonVariablesEachIsChargedByItsOwn) {
  // a_0 + a_1 = 1 and 4 a_2 + 4 a_3 = 8, of which the second does not hold: one of its variables
  // moves by a quarter of that along a slope of -0.5, and bends by 1.
  DualQp qp;
  std::vector<double> unit(16, 0.0);
  for (std::size_t i = 0; i < 4; ++i) unit[5 * i] = 1;
  qp.K = std::make_shared<DenseQuadratic>(4, std::move(unit));
  qp.row = {0, 1, 2, 3};
  qp.block.assign(4, {1, -1.5, 0, 10, 0});
  qp.A = {{1, 1, 0, 0}, {0, 0, 4, 4}};
  qp.d = {1, 8.04};
  const std::vector<double> a = {0.5, 0.5, 1, 1}, q = a, none(4, 0.0);
  const double by = 0.01;
  EXPECT_NEAR(equality_price(qp, a, q, none), 0.5 * by + by * by / 2, 1e-10);
}

// One row is a third of the other to rounding only, so that both hold at one point, wherever that
// is.
TEST(EqualityPrice, OfRowsThatAreTheSameButForRoundingNothingIsKnown) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 0, 0, 1});
  qp.row = {0, 1};
  qp.block.assign(2, {1, -1, 0, 10, 0});
  const std::vector<double> a = {1, 1}, none = {0, 0};
  qp.A = {{1, 3}, {1.0 / 3, 1}};
  qp.d = {4.01, 4.01 / 3};
  EXPECT_EQ(equality_price(qp, a, a, none), infinity);
  qp.A[1] = {2, 6};
  qp.d[1] = 8.02;
  EXPECT_LT(equality_price(qp, a, a, none), 1e-3);
}

/// A matrix whose products are as wrong as it says they may be, always to the same side.
class WrongQuadratic final : public DenseQuadratic {
 public:
  WrongQuadratic(std::size_t size, std::vector<double> values, double fast, double exact)
      : DenseQuadratic(size, std::move(values)), fast_(fast), exact_(exact) {}
  MatrixTraits traits() const override {
    MatrixTraits own = DenseQuadratic::traits();
    own.fast_error = fast_;
    own.exact_error = exact_;
    return own;
  }
  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    DenseQuadratic::multiply(x, y, precision, threads);
    double reach = 0;
    for (std::size_t j = 0; j < size(); ++j) reach += std::abs(x[j]) * std::sqrt(diagonal()[j]);
    for (std::size_t i = 0; i < size(); ++i)
      y[i] -= (i % 2 == 0 ? 1 : -1) * value_error(precision) * std::sqrt(diagonal()[i]) * reach;
  }

 private:
  double fast_, exact_;
};

TEST(ProductError, IsThatOfEachKernelValueTimesItsCoefficient) {
  const WrongQuadratic K(3, {4, 0, 0, 0, 9, 0, 0, 0, 25}, 1e-3, 1e-6);
  const std::vector<double> x = {0.5, 0, -2};
  const double reach = 0.5 * 2 + 2 * 5;
  EXPECT_NEAR(product_error(K, x, Precision::fast), 1e-3 * reach, 1e-12);
  EXPECT_NEAR(product_error(K, x, Precision::exact), 1e-6 * reach, 1e-12);
  EXPECT_GE(product_error(K, x, Precision::exact), 1e-6 * reach);
}

TEST(ProductError, OfCoefficientsIsThatOfTheirSums) {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{4, 0, 0, 9});
  qp.block.assign(3, {1, -1, 0, 10, 0});
  qp.row = {0, 1, 1};
  const std::vector<double> a = {5, 0.5, 0.25};
  // The first point has one variable, whose coefficient is not rounded.
  const double sizes = 3 * 0.75, epsilon = std::numeric_limits<double>::epsilon();
  EXPECT_GE(coefficient_error(qp, a), sizes * epsilon / 2);
  EXPECT_LE(coefficient_error(qp, a), sizes * epsilon * 4);
  EXPECT_DOUBLE_EQ(least_charge(qp, a, 1e-3), 1e-3 * (5 * 2 + sizes));
}

/// Points on a line with a Gaussian kernel, labels by turns of three.
DualQp wrong_problem(double cost, double fast, double exact) {
  constexpr std::size_t n = 24;
  std::vector<double> K(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double distance = 0.4 * (static_cast<double>(i) - static_cast<double>(j));
      K[i * n + j] = std::exp(-distance * distance);
    }
  DualQp qp;
  qp.K = std::make_shared<WrongQuadratic>(n, std::move(K), fast, exact);
  qp.A.assign(1, {});
  for (std::size_t v = 0; v < n; ++v) {
    const double sign = v / 3 % 2 == 0 ? 1 : -1;
    qp.row.push_back(static_cast<Index>(v));
    qp.block.push_back({sign, -1, 0, cost, 0});
    qp.A[0].push_back(sign);
  }
  qp.d = {0};
  return qp;
}

TEST(Certify, BoundsHoldThoughProductsAreAsWrongAsTheyMayBe) {
  const double optimum =
      solve(wrong_problem(10, 0, 0), Smo{.stop = {1e-9, 1e-9}}, Threads(1)).certificate.dual;
  for (const double error : {1e-3, 1e-5, 1e-7}) {
    const DualQp qp = wrong_problem(10, error, error);
    const Certified found = solve(qp, Smo{}, Threads(1));
    const Certificate& c = found.certificate;
    EXPECT_LE(c.dual, optimum) << error;
    EXPECT_GE(c.primal, optimum * (1 - 1e-8)) << error;
    EXPECT_GE(c.rounding, error);
    EXPECT_GE(found.charge, least_charge(qp, found.solution.a, error));
    // No bound of the run is better than what was certified, and no dual is above a primal.
    EXPECT_LE(c.best_dual, optimum);
    EXPECT_GE(c.best_primal, optimum * (1 - 1e-8));
    EXPECT_LT(c.best_dual, c.best_primal);
    EXPECT_GE(c.best_dual, c.dual);
    EXPECT_LE(c.best_primal, c.primal);
  }
}

TEST(Certify, TheBestBoundsOfOnePointAreItsOwn) {
  const DualQp qp = wrong_problem(2, 0, 0);
  Solution solution;
  solution.a.assign(qp.size(), 0.5);
  solution.best_dual = 1e9;  // what a solver says of itself is no bound
  const Certificate c = certify(qp, std::move(solution), Precision::fast, Threads(1)).certificate;
  EXPECT_LT(c.dual, c.primal);
  EXPECT_EQ(c.best_primal, c.primal);
  EXPECT_EQ(c.best_dual, c.dual);
}

TEST(Solve, TakesDoubleWhereFloatBoundsAreTooWideAndStallsWhereDoubleIsToo) {
  const Certified fine = solve(wrong_problem(10, 1e-2, 1e-14), Smo{}, Threads(1));
  EXPECT_EQ(fine.solution.ended, Ended::converged);
  EXPECT_LE(fine.certificate.relative_gap, 1e-3);
  EXPECT_LT(fine.certificate.rounding, 1e-9);
  EXPECT_EQ(fine.obstacle, "");
  const Certified coarse = solve(wrong_problem(1e4, 1e-4, 1e-5), Smo{}, Threads(1));
  EXPECT_EQ(coarse.solution.ended, Ended::stalled);
  EXPECT_NE(coarse.obstacle, "");
}

}  // namespace
}  // namespace maxmargin::enclosure_test
