#include "maxmargin/solver/primal_dual/orthogonal_rows.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::orthogonal_rows_test {
namespace {

double product(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t v = 0; v < x.size(); ++v) sum += x[v] * y[v];
  return sum;
}

/// Four rows over 50 variables; the second is nearly the first, the third is a sum of both.
DualQp rows(double apart, Rng& rng) {
  DualQp qp;
  qp.A.resize(4);
  qp.row.assign(50, 0);
  qp.block.resize(50);
  for (std::size_t v = 0; v < 50; ++v) {
    const double x = rng.normal();
    qp.A[0].push_back(100 * x);
    qp.A[1].push_back(100 * x + apart * rng.normal());
    qp.A[2].push_back(qp.A[0][v] - 2 * qp.A[1][v]);
    qp.A[3].push_back(1e-3 * rng.normal());
  }
  qp.d = {1, 2, 1 - 2 * 2, 4};
  return qp;
}

TEST(OrthogonalRows, SayTheSameAsTheRowsTheyStandFor) {
  Rng rng(4);
  for (const double apart : {10.0, 1e-4}) {
    const DualQp qp = rows(apart, rng);
    const OrthogonalRows orthogonal(qp);
    const DualQp& other = orthogonal.problem();
    ASSERT_EQ(other.A.size(), 3u);  // the sum is left out
    EXPECT_FALSE(orthogonal.contradictory());
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t s = 0; s < 3; ++s)
        EXPECT_NEAR(product(other.A[r], other.A[s]), r == s ? 50 : 0, 1e-10);

    std::vector<double> a, new_residual, lambda = {0.3, -1, 0, 20};
    for (std::size_t v = 0; v < 50; ++v) a.push_back(rng.normal());
    for (std::size_t r = 0; r < 3; ++r) new_residual.push_back(product(other.A[r], a) - other.d[r]);
    const std::vector<double> residual = orthogonal.residual(new_residual);
    for (std::size_t r = 0; r < 4; ++r)
      EXPECT_NEAR(residual[r], product(qp.A[r], a) - qp.d[r], 1e-10) << r;

    const std::vector<double> there = orthogonal.new_multipliers(lambda);
    const std::vector<double> back = orthogonal.multipliers(there);
    for (std::size_t v = 0; v < 50; ++v) {
      double old_price = 0, new_price = 0, price_back = 0;
      for (std::size_t r = 0; r < 4; ++r) {
        old_price += lambda[r] * qp.A[r][v];
        price_back += back[r] * qp.A[r][v];
      }
      for (std::size_t r = 0; r < 3; ++r) new_price += there[r] * other.A[r][v];
      EXPECT_NEAR(new_price, old_price, 1e-9);
      EXPECT_NEAR(price_back, old_price, 1e-9);
    }
    EXPECT_EQ(back[2], 0);
  }
}

TEST(OrthogonalRows, TellWhereRowsContradictEachOther) {
  Rng rng(4);
  DualQp qp = rows(10, rng);
  qp.d[2] = 5;
  EXPECT_TRUE(OrthogonalRows(qp).contradictory());
}

}  // namespace
}  // namespace maxmargin::orthogonal_rows_test
