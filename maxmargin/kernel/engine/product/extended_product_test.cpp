#include "maxmargin/kernel/engine/product/extended_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::extended_product_test {
namespace {

std::vector<Index> first(std::size_t count) {
  std::vector<Index> list(count);
  std::iota(list.begin(), list.end(), 0);
  return list;
}

/// Whole numbers below 2^26, some of them 0: their products are doubles.
Features whole_numbers(std::size_t rows, Index columns, Rng& rng) {
  Features x = Features::sparse(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<Index> features;
    std::vector<double> values;
    for (Index j = 0; j < columns; ++j)
      if (rng.uniform() < 0.7) {
        features.push_back(j);
        values.push_back(std::floor(rng.uniform(-1, 1) * 0x1p26));
      }
    x.append(features, values);
  }
  return x;
}

TEST(ExtendedProduct, IsWithinItsErrorOfExactSums) {
  Rng rng(1);
  const std::size_t rows = 30;
  const Index columns = 12;
  const Features x = whole_numbers(rows, columns, rng);
  const std::vector<Index> all = first(rows);
  // Large coefficients of both signs, most of which cancels.
  std::vector<double> coefficients(rows);
  for (double& each : coefficients) each = rng.uniform(-1, 1) * 1e9;
  std::vector<long double> y(rows);
  const Form form{Pairing::dot, Identity{}};
  extended_product(form, x, all, all, coefficients, y, Threads(2));
  std::vector<std::vector<double>> dense(rows, std::vector<double>(columns, 0.0));
  for (std::size_t i = 0; i < rows; ++i)
    x.view().for_each(i, [&](Index feature, double value) { dense[i][feature] = value; });
  const double value = extended_error(form, columns);
  EXPECT_LT(value, 1e-17);
  for (std::size_t i = 0; i < rows; ++i) {
    ExactSum sum;
    double reach = 0;
    for (std::size_t s = 0; s < rows; ++s)
      for (std::size_t j = 0; j < columns; ++j) {
        sum.add_product(coefficients[s], dense[i][j] * dense[s][j]);
        reach += std::abs(coefficients[s] * dense[i][j] * dense[s][j]);
      }
    // The difference to the exact sum, which needs more than a double.
    sum.add(-static_cast<double>(y[i]));
    sum.add(-static_cast<double>(y[i] - static_cast<double>(y[i])));
    EXPECT_LE(std::abs(sum.value()), (value + (rows + 1) * extended_roundoff) * reach) << i;
  }
}

TEST(ExtendedProduct, TheSquareOfAGaussianIsThatOfTwiceTheRate) {
  const Dataset data = made::classification(20, 4, made::Storage::dense_doubles, 3);
  const Index first_row[] = {0};
  const double one[] = {1};
  for (const Pairing pairing : {Pairing::squared_euclidean, Pairing::manhattan}) {
    std::vector<long double> once(20), twice(20);
    extended_product({pairing, Decay{0.5}}, data.x, first(20), first_row, one, once, Threads(1));
    extended_product({pairing, Decay{1.0}}, data.x, first(20), first_row, one, twice, Threads(1));
    const double error = extended_error({pairing, Decay{1.0}}, 4);
    for (std::size_t i = 0; i < 20; ++i)
      EXPECT_LE(std::abs(static_cast<double>(once[i] * once[i] - twice[i])), 3 * error) << i;
    EXPECT_NE(once[1], static_cast<long double>(static_cast<double>(once[1])));
  }
}

TEST(ExtendedProduct, DoesNotDependOnThreads) {
  const Dataset data = made::classification(100, 5, made::Storage::sparse, 4);
  const std::vector<double> coefficients(100, 0.7);
  const Form form{Pairing::squared_euclidean, RootDecay{0.3}};
  std::vector<long double> one(100), four(100);
  extended_product(form, data.x, first(100), first(100), coefficients, one, Threads(1));
  extended_product(form, data.x, first(100), first(100), coefficients, four, Threads(4));
  EXPECT_EQ(one, four);
}

}  // namespace
}  // namespace maxmargin::extended_product_test
