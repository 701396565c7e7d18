#include "maxmargin/problem/matrix/linear_product.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::linear_product_test {
namespace {

// Enough rows for several parts; some of them not chosen, some with a coefficient of zero.
TEST(LinearProduct, IsTheDoubleLoopForAnyNumberOfThreads) {
  constexpr std::size_t rows = 2600, columns = 3;
  for (const bool sparse : {false, true}) {
    Features X = no_rows(sparse, columns);
    Rng rng(7);
    for (std::size_t i = 0; i < rows; ++i)
      X.append(std::vector<double>{rng.uniform(-1, 1), i % 2 == 0 ? 0 : rng.uniform(), 1});
    std::vector<Index> which;
    std::vector<double> x, w(columns, 0.0);
    const Rows view = X;
    for (Index i = 0; i < rows; ++i) {
      if (i % 5 == 0) continue;
      which.push_back(i);
      x.push_back(i % 7 == 0 ? 0 : rng.uniform(-1, 1));
      view.for_each(i, [&](Index feature, double value) { w[feature] += x.back() * value; });
    }
    std::vector<double> y(which.size()), again(which.size());
    linear_product(view, which, x, y, Threads(1));
    linear_product(view, which, x, again, Threads(3));
    EXPECT_EQ(y, again);
    for (std::size_t i = 0; i < which.size(); ++i) {
      double expected = 0;
      view.for_each(which[i], [&](Index feature, double value) { expected += w[feature] * value; });
      ASSERT_NEAR(y[i], expected, 1e-11);
    }
  }
}

TEST(LinearProduct, IsTheProductOfTheLinearKernel) {
  Features X = Features::dense(2);
  for (const double value : {1.0, -2.0, 0.5}) X.append(std::vector<double>{value, 1});
  const auto K = make_kernel_quadratic(Linear{}, std::make_shared<const Features>(std::move(X)));
  for (const Precision precision : {Precision::fast, Precision::exact}) {
    std::vector<double> y(3);
    K->multiply(std::vector<double>{1, 0, 2}, y, precision, Threads(1));
    EXPECT_EQ(y, (std::vector<double>{5, -1, 4}));
  }
}

}  // namespace
}  // namespace maxmargin::linear_product_test
