#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::kernel_quadratic_test {
namespace {

std::vector<Index> numbers(std::size_t begin, std::size_t end) {
  std::vector<Index> result(end - begin);
  std::iota(result.begin(), result.end(), static_cast<Index>(begin));
  return result;
}

std::vector<float> all_rows(const Quadratic& K, std::span<const Index> which,
                            const Threads& threads) {
  std::vector<float> values(which.size() * K.size());
  std::vector<float*> out;
  for (std::size_t r = 0; r < which.size(); ++r) out.push_back(values.data() + r * K.size());
  K.rows(which, 0, K.size(), out, threads);
  return values;
}

/// Rows, products, blocks and restrictions of some points of a matrix are those of the matrix.
/// `apart`: how far products, which may have values of their own, may be from those of rows.
void expect_part_of(const Quadratic& whole, std::span<const Index> points, double apart) {
  const Threads threads(2);
  const auto part = whole.restrict_to(points);
  ASSERT_EQ(part->size(), points.size());
  const std::vector<Index> some{0, static_cast<Index>(points.size() / 2),
                                static_cast<Index>(points.size() - 1)};
  std::vector<Index> originals;
  for (const Index p : some) originals.push_back(points[p]);
  const std::vector<float> got = all_rows(*part, some, threads);
  const std::vector<float> want = all_rows(whole, originals, threads);
  for (std::size_t r = 0; r < some.size(); ++r)
    for (std::size_t c = 0; c < points.size(); ++c)
      ASSERT_EQ(got[r * points.size() + c], want[r * whole.size() + points[c]]);

  const std::vector<double> coefficients{1.5, -2, 0.25};
  std::vector<double> x(points.size(), 0.0), y(points.size()), sum(points.size(), 0.0);
  part->add_product(some, coefficients, sum, threads);
  for (std::size_t k = 0; k < some.size(); ++k) x[some[k]] += coefficients[k];
  part->multiply(x, y, Precision::fast, threads);
  for (std::size_t c = 0; c < points.size(); ++c) {
    double expected = 0, size = 0;
    for (std::size_t k = 0; k < some.size(); ++k) {
      expected += coefficients[k] * static_cast<double>(got[k * points.size() + c]);
      size += std::abs(coefficients[k] * static_cast<double>(got[k * points.size() + c]));
    }
    ASSERT_NEAR(sum[c], expected, 1e-12 + apart * size);
    ASSERT_EQ(y[c], sum[c]);
  }
  part->multiply(x, y, Precision::exact, threads);
  for (std::size_t c = 0; c < points.size(); ++c) ASSERT_NEAR(y[c], sum[c], 1e-5);

  const std::vector<Index> set{1, 5, 8, static_cast<Index>(points.size() - 1)}, which{2, 0};
  std::vector<float> block(some.size() * set.size());
  std::vector<float*> out{block.data(), block.data() + set.size(), block.data() + 2 * set.size()};
  part->among(set, which, out, threads);
  for (std::size_t r = 0; r < which.size(); ++r) {
    const std::vector<float> row = all_rows(*part, std::vector<Index>{set[which[r]]}, threads);
    for (std::size_t c = 0; c < set.size(); ++c) ASSERT_EQ(block[r * set.size() + c], row[set[c]]);
  }
  const std::vector<Index> backwards(set.rbegin(), set.rend());
  for (const bool by_rows : {false, true}) {
    if (by_rows)
      part->Quadratic::block(some, backwards, out, threads);
    else
      part->block(some, backwards, out, threads);
    for (std::size_t r = 0; r < some.size(); ++r)
      for (std::size_t c = 0; c < set.size(); ++c)
        ASSERT_EQ(out[r][c], got[r * points.size() + backwards[c]]);
  }
}

/// Products with nearly all points take each value of the symmetric matrix once, where it costs
/// enough: the sums are those of the rows, whatever the number of threads.
void expect_products_of_rows(const Kernel& kernel, Features features) {
  Rng rng(4);
  const auto K =
      make_kernel_quadratic(kernel, std::make_shared<const Features>(std::move(features)));
  std::vector<double> x(K->size());
  for (double& value : x) value = rng.uniform() < 0.1 ? 0 : rng.normal();
  std::vector<double> once(K->size()), twice(K->size()), by_rows(K->size(), 0.0);
  K->multiply(x, once, Precision::fast, Threads(1));
  K->multiply(x, twice, Precision::fast, Threads(3));
  EXPECT_EQ(once, twice);
  std::vector<double> exact(K->size());
  K->multiply(x, exact, Precision::exact, Threads(1));
  const std::vector<Index> all = numbers(0, K->size());
  K->add_product(all, x, by_rows, Threads(1));
  for (std::size_t i = 0; i < K->size(); ++i) {
    ASSERT_NEAR(once[i], by_rows[i], 1e-5) << i;
    ASSERT_NEAR(once[i], exact[i], 1e-4) << i;
  }
}

TEST(KernelQuadratic, EachValueOnceGivesTheProductsOfRows) {
  Rng rng(3);
  const auto dense = [&](std::size_t rows, std::size_t columns, double unit) {
    std::vector<double> values(rows * columns);
    for (double& value : values)
      value = unit > 0 ? unit * static_cast<double>(rng.below(1000)) : rng.normal();
    return Features::dense(columns, values);
  };
  expect_products_of_rows(Rbf{0.05}, dense(1100, 5, 0));        // differences
  expect_products_of_rows(Rbf{0.01}, dense(1025, 100, 0.001));  // whole numbers
  expect_products_of_rows(Rbf{0.001}, dense(1087, 140, 0));     // float blocks
  expect_products_of_rows(Laplacian{0.01}, dense(1088, 40, 0));
  expect_products_of_rows(Rbf{0.05}, dense(1023, 5, 0));  // too few to begin with
}

TEST(KernelQuadratic, SmallBlocksAreSymmetricAndThoseOfTheRows) {
  Rng rng(5);
  std::vector<double> values(400 * 90);
  for (double& value : values) value = 0.001 * static_cast<double>(rng.below(1000));
  const auto K = make_kernel_quadratic(
      Rbf{0.05}, std::make_shared<const Features>(Features::dense(90, values)));
  for (const std::size_t size : {3, 64, 65, 150}) {
    std::vector<Index> points;
    for (std::size_t k = 0; k < size; ++k) points.push_back(static_cast<Index>(2 * k + 1));
    std::vector<float> block(size * size);
    std::vector<float*> out;
    for (std::size_t r = 0; r < size; ++r) out.push_back(block.data() + r * size);
    K->among(points, numbers(0, size), out, Threads(2));
    const std::vector<float> rows = all_rows(*K, points, Threads(1));
    for (std::size_t r = 0; r < size; ++r)
      for (std::size_t c = 0; c < size; ++c)
        ASSERT_EQ(block[r * size + c], rows[r * K->size() + points[c]]) << r << " " << c;
  }
}

TEST(KernelQuadratic, PartsOfAMatrixHaveItsValues) {
  Rng rng(1);
  std::vector<double> dense(300 * 30);
  for (double& value : dense) value = rng.uniform();
  Features sparse = Features::sparse(200);
  for (std::size_t i = 0; i < 300; ++i) {
    std::vector<Index> features;
    for (Index j = 0; j < 200; ++j)
      if (rng.uniform() < 0.1) features.push_back(j);
    std::vector<double> values(features.size());
    for (double& value : values) value = rng.uniform();
    sparse.append(features, values);
  }
  std::vector<Index> two_classes = numbers(10, 100);
  const std::vector<Index> second = numbers(170, 290);
  two_classes.insert(two_classes.end(), second.begin(), second.end());
  std::vector<Index> scattered;
  for (Index p = 0; p < 300; p += 3) scattered.push_back(p);
  const Features rows[] = {Features::dense(30, dense), std::move(sparse)};
  for (const Features& each : rows)
    for (const Kernel& kernel : {Kernel(Rbf{0.3}), Kernel(Polynomial{0.1, 3, 1})}) {
      Features copy = none_like(each);
      copy.append(each.view());
      const auto K =
          make_kernel_quadratic(kernel, std::make_shared<const Features>(std::move(copy)));
      // Gaussians of few dense features.
      const double apart = std::holds_alternative<Rbf>(kernel) && !each.is_sparse() ? 1e-6 : 0;
      expect_part_of(*K, two_classes, apart);
      expect_part_of(*K, scattered, apart);
      // A part of a part.
      expect_part_of(*K->restrict_to(two_classes), numbers(50, 150), apart);
    }
}

TEST(KernelQuadratic, ClassesShareTheirKernelValues) {
  Rng rng(3);
  std::vector<double> dense(300 * 500);
  for (double& value : dense) value = rng.uniform();
  const auto rows = std::make_shared<const Features>(Features::dense(500, dense));
  const auto plain = make_kernel_quadratic(Rbf{0.01}, rows);
  const auto shared = make_shared_quadratic(Rbf{0.01}, rows, 1 << 20);
  ASSERT_GT(shared->value_cost(), 6);  // cheaper ones are not kept
  const Threads threads(2);
  // Three pairs of three classes, rows of both classes of each, asked for again and again.
  for (int round = 0; round < 2; ++round)
    for (const auto& [low, high] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)}) {
      std::vector<Index> points = numbers(100 * low, 100 * low + 100);
      const std::vector<Index> second = numbers(100 * high, 100 * high + 100);
      points.insert(points.end(), second.begin(), second.end());
      const auto part = shared->restrict_to(points);
      const std::vector<Index> some{3, 150, 99, 100, 7};
      EXPECT_EQ(all_rows(*part, some, threads),
                all_rows(*plain->restrict_to(points), some, threads));
    }
}

TEST(KernelQuadratic, StretchesShareThePackedRows) {
  Rng rng(2);
  std::vector<double> dense(400 * 20);
  for (double& value : dense) value = rng.uniform();
  const auto K =
      make_kernel_quadratic(Rbf{0.3}, std::make_shared<const Features>(Features::dense(20, dense)));
  EXPECT_GT(K->bytes(), 0u);
  EXPECT_EQ(K->restrict_to(numbers(100, 300))->bytes(), 0u);
  EXPECT_GT(K->restrict_to(std::vector<Index>{1, 3, 5, 7, 9, 11, 13, 15, 17, 19})->bytes(), 0u);
}

// For several vectors at once the products are those of each, with the same bits for any number of
// threads; by the plain definition they are what was promised of them.
TEST(KernelQuadratic, SeveralProductsAtOnce) {
  for (const made::Storage storage : {made::Storage::dense_doubles, made::Storage::sparse}) {
    Dataset data = made::regression(300, 7, storage, 4);
    const auto rows = std::make_shared<const Features>(std::move(data.x));
    Rng rng(3);
    std::vector<std::vector<double>> x(5, std::vector<double>(300, 0.0));
    for (std::size_t i = 0; i < 300; i += 2)
      for (auto& each : x)
        if (rng.uniform() < 0.8) each[i] = rng.normal();
    for (const Kernel& kernel :
         {Kernel(Rbf{0.3}), Kernel(Polynomial{0.5, 2, 1}), Kernel(Laplacian{0.2})}) {
      SCOPED_TRACE(std::to_string(kernel.index()));
      const auto plain = make_kernel_quadratic(kernel, rows, {}, Definite::unknown, Threads(1));
      for (const auto& K : {plain, make_biased(plain)}) {
        std::vector<std::vector<double>> have(5), again(5);
        ASSERT_TRUE(K->can().partial->multiply_several(x, have, Threads(1)));
        ASSERT_TRUE(K->can().partial->multiply_several(x, again, Threads(3)));
        EXPECT_EQ(have, again);
        for (std::size_t k = 0; k < x.size(); ++k) {
          std::vector<double> want(300);
          K->multiply(x[k], want, Precision::exact, Threads(1));
          for (std::size_t i = 0; i < 300; ++i) {
            double sum = 0, size = 0;
            for (std::size_t j = 0; j < 300; ++j) {
              const double value = naive_value(kernel, *rows, i, *rows, j) + (K == plain ? 0 : 1);
              sum += value * x[k][j];
              size += std::abs(value * x[k][j]);
            }
            EXPECT_NEAR(have[k][i], want[i], 1e-13 * size);
            EXPECT_NEAR(have[k][i], sum, 1e-12 * size);
          }
        }
      }
      // Vectors that share no points gain nothing.
      const std::vector<std::vector<double>> one(1, x[0]);
      std::vector<std::vector<double>> none(1);
      EXPECT_FALSE(plain->can().partial->multiply_several(one, none, Threads(1)));
    }
    const auto linear = make_kernel_quadratic(Linear{}, rows, {}, Definite::yes, Threads(1));
    std::vector<std::vector<double>> none(5);
    EXPECT_FALSE(linear->can().partial->multiply_several(x, none, Threads(1)));
  }
}

}  // namespace
}  // namespace maxmargin::kernel_quadratic_test
