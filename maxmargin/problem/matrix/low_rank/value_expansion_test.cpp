#include "maxmargin/problem/matrix/low_rank/value_expansion.hpp"

#include <gtest/gtest.h>

#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::value_expansion_test {
namespace {

TEST(ValueExpansion, NoOtherCoefficientsComeNearerInTheValues) {
  Rng rng(3);
  const auto x =
      std::make_shared<const Features>(made::features(40, 3, made::Storage::dense_doubles, rng));
  const auto K = make_kernel_quadratic(Rbf{1.0}, x, {}, Definite::yes, Threads(1));
  const std::vector<Index> basis{1, 7, 20, 33}, points{0, 7, 39};
  const ValueExpansion found = expand_values(*K, basis, points, Threads(2));
  std::vector<double> rows(40 * 40);
  std::vector<Index> all(40);
  for (Index i = 0; i < 40; ++i) all[i] = i;
  K->exact_block(all, 0, 40, rows.data(), 40);
  const auto squares = [&](std::size_t k, std::span<const double> c) {
    double sum = 0;
    for (std::size_t l = 0; l < 40; ++l) {
      double rest = rows[points[k] * 40 + l];
      for (std::size_t j = 0; j < basis.size(); ++j) rest -= c[j] * rows[basis[j] * 40 + l];
      sum += rest * rest;
    }
    return sum;
  };
  for (std::size_t k = 0; k < points.size(); ++k) {
    std::vector<double> c(&found.coefficients[k * 4], &found.coefficients[k * 4] + 4);
    const double least = squares(k, c);
    EXPECT_NEAR(found.residual[k], least, 1e-10);
    for (double& value : c)
      for (const double change : {0.01, -0.01}) {
        value += change;
        EXPECT_GT(squares(k, c), least);
        value -= change;
      }
  }
  // A basis function is itself, which is not so for the others.
  EXPECT_NEAR(found.residual[1], 0, 1e-12);
  EXPECT_NEAR(found.coefficients[1 * 4 + 1], 1, 1e-6);
  EXPECT_GT(found.residual[0], 1e-6);
}

}  // namespace
}  // namespace maxmargin::value_expansion_test
