#include "maxmargin/problem/matrix/cache/cached_rows.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::cached_rows_test {
namespace {

constexpr std::size_t points = 90;
constexpr std::size_t row_bytes = points * sizeof(float);

std::shared_ptr<const Quadratic> made(std::size_t features, const Kernel& kernel) {
  Rng rng(7);
  Features rows = Features::dense(features);
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> row(features);
    for (double& value : row) value = rng.uniform();
    rows.append(row);
  }
  return make_kernel_quadratic(kernel, std::make_shared<const Features>(std::move(rows)));
}

/// A matrix that counts the rows it is asked for.
class Counting final : public ForwardingQuadratic {
 public:
  using ForwardingQuadratic::ForwardingQuadratic;
  MatrixTraits traits() const override {
    MatrixTraits own = inner().traits();
    own.value_cost = 10;
    return own;
  }
  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    asked += which.size();
    inner().rows(which, begin, count, out, threads);
  }
  void among(std::span<const Index> some, std::span<const Index> which, std::span<float* const> out,
             const Threads& threads) const override {
    asked += which.size();
    inner().among(some, which, out, threads);
  }
  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    asked += which.size();
    inner().add_product(which, coefficients, y, threads);
  }

  mutable std::size_t asked = 0;
};

/// Rows, blocks and products of `one` are those of `other`.
void expect_equal(const Quadratic& one, const Quadratic& other) {
  const Threads threads(2);
  const std::vector<Index> which{3, 88, 17, 40}, set{2, 17, 40, 41, 60}, within{1, 4, 2};
  const std::vector<double> coefficients{1, -2, 0.5, 3};
  const auto all_of = [&](const Quadratic& K) {
    std::vector<float> values(4 * points), part(4 * 20), block(3 * 5);
    std::vector<float*> to, to_part, to_block;
    for (std::size_t r = 0; r < 4; ++r) to.push_back(&values[r * points]);
    for (std::size_t r = 0; r < 4; ++r) to_part.push_back(&part[r * 20]);
    for (std::size_t r = 0; r < 3; ++r) to_block.push_back(&block[r * 5]);
    K.rows(which, 50, 20, to_part, threads);
    K.rows(which, 0, points, to, threads);
    K.among(set, within, to_block, threads);
    values.insert(values.end(), part.begin(), part.end());
    values.insert(values.end(), block.begin(), block.end());
    return values;
  };
  EXPECT_EQ(all_of(one), all_of(other));
  std::vector<double> x(points, 0.0), sum(points, 1.0), expected(points, 1.0), y(points), z(points);
  one.add_product(which, coefficients, sum, threads);
  other.add_product(which, coefficients, expected, threads);
  for (std::size_t k = 0; k < which.size(); ++k) x[which[k]] = coefficients[k];
  for (const Precision precision : {Precision::fast, Precision::exact}) {
    one.multiply(x, y, precision, threads);
    other.multiply(x, z, precision, threads);
    for (std::size_t c = 0; c < points; ++c) EXPECT_NEAR(y[c], z[c], 1e-12);
  }
  for (std::size_t c = 0; c < points; ++c) EXPECT_NEAR(sum[c], expected[c], 1e-12);
}

TEST(CachedRows, AreTheRowsOfTheMatrix) {
  const auto K = made(300, Rbf{0.02});
  const auto expensive = std::make_shared<const Counting>(K);
  for (const std::size_t bytes : {std::size_t{0}, 2 * row_bytes, 100 * row_bytes}) {
    const auto kept = cache_rows(expensive, bytes);
    ASSERT_NE(kept, expensive);
    expect_equal(*kept, *K);
    expect_equal(*kept, *K);  // from what is kept now
  }
}

TEST(CachedRows, AreComputedOnce) {
  const auto K = std::make_shared<const Counting>(made(20, Rbf{1}));
  const auto kept = cache_rows(K, 5 * row_bytes);
  const Threads threads(1);
  std::vector<float> values(3 * points);
  std::vector<float*> out{&values[0], &values[points], &values[2 * points]};
  kept->rows(std::vector<Index>{5, 6, 7}, 0, points, out, threads);
  EXPECT_EQ(K->asked, 3u);
  std::vector<double> y(points, 0.0);
  kept->add_product(std::vector<Index>{7, 8}, std::vector<double>{1, 1}, y, threads);
  EXPECT_EQ(K->asked, 4u);
  kept->rows(std::vector<Index>{8, 5, 9}, 0, points, out, threads);
  EXPECT_EQ(K->asked, 5u);
  kept->rows(std::vector<Index>{10, 9}, 0, points, std::span(out).first(2), threads);
  EXPECT_EQ(K->asked, 6u) << "there is room for five rows, and 9 is one of them";
  kept->rows(std::vector<Index>{10}, 0, points, std::span(out).first(1), threads);
  EXPECT_EQ(K->asked, 7u);
  kept->among(std::vector<Index>{5, 30}, std::vector<Index>{0}, std::span(out).first(1), threads);
  EXPECT_EQ(K->asked, 7u);
  EXPECT_EQ(values[0], 1.0f);
}

TEST(CachedRows, AreNotKeptWhereTheyAreCheap) {
  const auto few_features = made(2, Rbf{1}), linear = made(60, Linear{});
  EXPECT_EQ(cache_rows(few_features, 1 << 20), few_features);
  EXPECT_EQ(cache_rows(linear, 1 << 20), linear);
  CostModel dear;
  dear.touch_value = 0;
  EXPECT_NE(cache_rows(few_features, 1 << 20, dear), few_features);
}

}  // namespace
}  // namespace maxmargin::cached_rows_test
