#include "maxmargin/kernel/mercer.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::mercer_test {
namespace {

/// X X' of `rank` columns, with `added` on the first entry of the diagonal.
Features products(std::size_t rows, std::size_t rank, double added) {
  Rng rng(rows + rank);
  std::vector<std::vector<double>> x(rows, std::vector<double>(rank));
  for (auto& row : x)
    for (double& value : row) value = rng.normal();
  Features matrix = Features::dense(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> row(rows, 0.0);
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t c = 0; c < rank; ++c) row[j] += x[i][c] * x[j][c];
    if (i == 0) row[0] += added * row[0];
    matrix.append(row);
  }
  return matrix;
}

TEST(Mercer, FactorsSayWhatEigenvaluesSay) {
  const Threads threads(1);
  for (const std::size_t rows : {1u, 2u, 7u, 60u, 150u})
    for (const std::size_t rank : {1u, 3u, 200u})
      for (const double added : {0.0, 0.1, -0.01, -1e-6}) {
        const Features matrix = products(rows, rank, added);
        const Mercer by_eigenvalues = mercer_check(Precomputed{}, matrix, rows, 0, threads);
        const Mercer by_factors = mercer_holds(Precomputed{}, matrix, rows, 0, threads);
        EXPECT_EQ(by_factors.holds, by_eigenvalues.holds) << rows << ", " << rank << ", " << added;
        EXPECT_EQ(by_factors.sample, rows);
        EXPECT_FALSE(by_factors.is_sampled());
      }
}

TEST(Mercer, IndefiniteMatricesHaveNoFactor) {
  for (const double beside : {1.001, 2.0, -5.0}) {
    const Features matrix = Features::dense(2, std::vector<double>{1, beside, beside, 1});
    EXPECT_FALSE(mercer_holds(Precomputed{}, matrix, 2, 0, Threads(1)).holds) << beside;
  }
  // The diagonal counts with its own size.
  const Features large = Features::dense(2, std::vector<double>{4, 5, 5, 4});
  EXPECT_FALSE(mercer_holds(Precomputed{}, large, 2, 0, Threads(1)).holds);
  EXPECT_NEAR(mercer_check(Precomputed{}, large, 2, 0, Threads(1)).smallest, -0.25, 1e-12);
  const Features negative = Features::dense(1, std::vector<double>{-1});
  EXPECT_FALSE(mercer_holds(Precomputed{}, negative, 1, 0, Threads(1)).holds);
  const Features zero = Features::dense(2, std::vector<double>{0, 0, 0, 1});
  EXPECT_TRUE(mercer_holds(Precomputed{}, zero, 2, 0, Threads(1)).holds);
  const Features impossible = Features::dense(2, std::vector<double>{0, 0.1, 0.1, 1});
  EXPECT_FALSE(mercer_holds(Precomputed{}, impossible, 2, 0, Threads(1)).holds);
}

}  // namespace
}  // namespace maxmargin::mercer_test
