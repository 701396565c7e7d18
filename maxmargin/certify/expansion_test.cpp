#include "maxmargin/certify/expansion.hpp"

#include <gtest/gtest.h>

#include "tests/dense_quadratic.hpp"

// The linear-programming machine of three points so far apart that K is the unit matrix, two of one
// class: max a_0 + a_1 + a_2 with a_0 + a_1 = a_2, 0 <= a <= C = 1/2 (|a| <= 1 holds by itself).
// The optimum is 2 C = 1.

namespace maxmargin::expansion_test {
namespace {

DualQp three_points() {
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(3, std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1});
  qp.A = {{1, 1, -1}};
  qp.d = {0};
  for (const double sign : {1.0, 1.0, -1.0}) {
    qp.row.push_back(static_cast<Index>(qp.block.size()));
    qp.block.push_back({sign, -1, 0, 0.5, 0});
  }
  return qp;
}

TEST(ExpansionCertificate, ChargesWhatTheEqualityRowMisses) {
  // 1.4 as it stands; 0.4 of it violates the row, and the first variable has room for that.
  const ExpansionCertified judged =
      certify(three_points(), {{0, 0, 0}, {0}, {0.5, 0.4, 0.5}}, Threads(1));
  EXPECT_NEAR(judged.certificate.equality_residual, 0.4, 1e-15);
  EXPECT_LE(judged.certificate.dual, 1);
  EXPECT_GE(judged.certificate.dual, 1 - 1e-12);
  EXPECT_GE(judged.certificate.primal, 1);
}

TEST(ExpansionCertificate, HasTheLargestTermOfTheGapAsItsViolation) {
  // f = 0.75, 0.25, -1: losses of 0.25, 0.75 and 0, where a is C, 0 and C.
  const ExpansionCertified judged =
      certify(three_points(), {{0.75, 0.25, -1}, {0}, {0.5, 0, 0.5}}, Threads(1));
  EXPECT_NEAR(judged.certificate.primal, 2 + 0.5 * (0.25 + 0.75), 1e-12);
  EXPECT_NEAR(judged.certificate.dual, 1, 1e-12);
  // C max(0, 1 - y f) - a (1 - y f), for a cost of 1: that of the second.
  EXPECT_NEAR(judged.certificate.kkt, 0.75, 1e-12);
}

}  // namespace
}  // namespace maxmargin::expansion_test
