#include "maxmargin/solver/one_variable/violations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::violations_test {
namespace {

TEST(Violations, AreThoseOfTheDefinition) {
  Rng rng(5);
  const std::size_t points = 37;
  DualQp qp;
  qp.A.resize(2);
  std::vector<double> a, f;
  for (std::size_t p = 0; p < points; ++p) {
    f.push_back(rng.normal());
    for (const double sign : {1.0, -1.0}) {
      const double curvature = p % 3 == 0 ? rng.uniform() : 0.0;
      qp.row.push_back(static_cast<Index>(p));
      qp.block.push_back({sign, rng.normal(), -1, p % 5 == 0 ? infinity : 2.0, curvature});
      a.push_back(std::clamp(3 * rng.normal(), -1.0, 2.0));
      for (std::vector<double>& row : qp.A) row.push_back(rng.normal());
    }
  }
  const std::vector<double> price = {0.7, -1.3};
  const VariableColumns columns(qp);
  // Any range, also one that no vector fits.
  for (const auto& [begin, end] : {std::pair{0, 74}, std::pair{3, 5}, std::pair{8, 61}}) {
    std::vector<double> slope(a.size(), 99), violation(a.size(), 99);
    const double largest =
        find_violations(columns, {a, f, price}, static_cast<std::size_t>(begin),
                        static_cast<std::size_t>(end), slope.data(), violation.data());
    double expected_largest = 0;
    for (int v = 0; v < 74; ++v) {
      const auto i = static_cast<std::size_t>(v);
      if (v < begin || v >= end) {
        EXPECT_EQ(slope[i], 99);
        EXPECT_EQ(violation[i], 99);
        continue;
      }
      const Block& block = qp.block[i];
      const double expected = block.sign * f[qp.row[i]] + block.linear + block.curvature * a[i] +
                              price[0] * qp.A[0][i] + price[1] * qp.A[1][i];
      EXPECT_NEAR(slope[i], expected, 1e-14);
      const bool downhill_is_open = slope[i] < 0 ? a[i] < block.upper : a[i] > block.lower;
      EXPECT_EQ(violation[i], downhill_is_open ? std::abs(slope[i]) : 0);
      expected_largest = std::max(expected_largest, violation[i]);
    }
    EXPECT_EQ(largest, expected_largest);
  }
}

}  // namespace
}  // namespace maxmargin::violations_test
