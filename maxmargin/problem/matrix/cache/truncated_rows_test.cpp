#include "maxmargin/problem/matrix/cache/truncated_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"

namespace maxmargin::truncated_rows_test {
namespace {

constexpr std::size_t points = 1403;  // not a whole number of blocks
constexpr std::size_t ample = std::size_t{1} << 26;

/// Clusters that a narrow Gaussian hardly sees from one another.
std::shared_ptr<const Quadratic> made() {
  Rng rng(3);
  Features rows = Features::dense(4);
  for (std::size_t i = 0; i < points; ++i) {
    std::vector<double> row(4);
    for (double& value : row) value = static_cast<double>(i / 40) + 0.3 * rng.uniform();
    rows.append(row);
  }
  return make_kernel_quadratic(Rbf{8.0}, std::make_shared<const Features>(std::move(rows)));
}

std::vector<Index> every(std::size_t step, std::size_t size, std::size_t from = 0) {
  std::vector<Index> which;
  for (std::size_t i = from; i < size; i += step) which.push_back(static_cast<Index>(i));
  return which;
}

std::vector<double> coefficients(std::size_t many) {
  std::vector<double> result(many);
  for (std::size_t k = 0; k < many; ++k) result[k] = 1.0 - 0.01 * static_cast<double>(k % 170);
  return result;
}

std::vector<double> product(const Quadratic& K, const std::vector<Index>& which,
                            const Threads& threads) {
  std::vector<double> y(K.size(), 1.0);
  K.add_product(which, coefficients(which.size()), y, threads);
  return y;
}

/// What may be left out of a product: a quarter of what the rounding of values may make of it.
double rounding(const Quadratic& K, std::size_t many) {
  double squares = 0;
  for (const double each : coefficients(many)) squares += each * each;
  return 0.25 * K.deviation() * std::sqrt(squares);
}

std::vector<std::vector<float>> among(const Quadratic& K, const std::vector<Index>& some,
                                      const std::vector<Index>& which, const Threads& threads) {
  std::vector<std::vector<float>> values(which.size(), std::vector<float>(some.size(), -1.0f));
  std::vector<float*> out;
  for (auto& row : values) out.push_back(row.data());
  K.among(some, which, out, threads);
  return values;
}

void expect_same(const Quadratic& near, const Quadratic& plain, const Threads& threads) {
  const std::size_t size = plain.size();
  for (const auto& which : {every(3, size), every(2, size, 1), every(3, size)}) {
    const std::vector<double> y = product(near, which, threads);
    const std::vector<double> wanted = product(plain, which, threads);
    for (std::size_t c = 0; c < size; ++c)
      ASSERT_NEAR(y[c], wanted[c], rounding(plain, which.size())) << c;
  }
  std::vector<Index> mixed = every(7, size);
  std::reverse(mixed.begin(), mixed.end());
  for (const auto& some : {every(5, size), mixed}) {
    const auto which = every(2, some.size());
    const auto values = among(near, some, which, threads);
    const auto wanted = among(plain, some, which, threads);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < some.size(); ++c)
        ASSERT_NEAR(values[r][c], wanted[r][c], rounding(plain, 1)) << r << " " << c;
  }
}

TEST(TruncatedRows, ValuesAreThoseOfTheMatrixWhateverTheRoom) {
  const auto K = made();
  ASSERT_LT(nonzero_share(*K), 0.1);
  const Threads threads(2);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{60'000}, ample})
    expect_same(*cache_truncated_rows(K, bytes), *K, threads);
}

TEST(TruncatedRows, ColumnsMayBeStretchesThatBeginAnywhere) {
  std::vector<Index> some(150);
  std::iota(some.begin(), some.begin() + 83, Index{5});
  std::iota(some.begin() + 83, some.end(), Index{1301});
  const auto K = made()->restrict_to(some);
  const Threads alone(1);
  const auto near = cache_truncated_rows(K, ample);
  ASSERT_NE(near, K);
  expect_same(*near, *K, alone);
}

TEST(TruncatedRows, HasTheSameBitsWithAnyNumberOfThreads) {
  const auto K = made();
  const Threads alone(1), three(3);
  const auto one = cache_truncated_rows(K, 200'000), many = cache_truncated_rows(K, 200'000);
  for (const std::size_t step : {9, 2, 2})
    EXPECT_EQ(product(*one, every(step, points), alone),
              product(*many, every(step, points), three));
}

TEST(TruncatedRows, KeepsRowsAsLongAsThereIsRoom) {
  const auto K = made();
  const Threads alone(1);
  EXPECT_FALSE(stores_truncated_rows(*K));
  const auto little = cache_truncated_rows(K, 100'000), much = cache_truncated_rows(K, ample);
  EXPECT_TRUE(stores_truncated_rows(*little));
  for (const auto& near : {little, much}) product(*near, every(1, points), alone);
  EXPECT_FALSE(stores_truncated_rows(*little));
  EXPECT_TRUE(stores_truncated_rows(*much));
}

TEST(TruncatedRows, ARowThatIsKeptHasTheValuesThatCount) {
  const auto K = made();
  const Threads alone(1);
  const auto near = cache_truncated_rows(K, ample);
  const StoredRows* stored = near->can().stored;
  ASSERT_NE(stored, nullptr);
  EXPECT_FALSE(stored->truncated_row(700));
  stored->keep(every(7, points), alone);
  EXPECT_FALSE(stored->truncated_row(701));
  const auto row = stored->truncated_row(700);
  ASSERT_TRUE(row);
  EXPECT_LT(row->blocks.size() * block_columns, points / 4);
  std::vector<float> wanted(points), found(points, 0.0f);
  float* const out[] = {wanted.data()};
  K->rows(std::vector<Index>{700}, 0, points, out, alone);
  for (std::size_t k = 0; k < row->blocks.size(); ++k)
    for (std::size_t i = 0; i < block_columns && block_columns * row->blocks[k] + i < points; ++i)
      found[block_columns * row->blocks[k] + i] = row->values[block_columns * k + i];
  for (std::size_t c = 0; c < points; ++c)
    ASSERT_NEAR(found[c], wanted[c], rounding(*K, 1) / std::sqrt(points)) << c;
}

TEST(TruncatedRows, AWideKernelIsLeftAsItIs) {
  Rng rng(5);
  Features rows = Features::dense(3);
  for (std::size_t i = 0; i < 300; ++i)
    rows.append(std::vector<double>{rng.uniform(), rng.uniform(), rng.uniform()});
  const auto K = make_kernel_quadratic(Rbf{1.0}, std::make_shared<const Features>(std::move(rows)));
  EXPECT_EQ(cache_truncated_rows(K, ample), K);
}

}  // namespace
}  // namespace maxmargin::truncated_rows_test
