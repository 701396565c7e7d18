#include "maxmargin/solver/restart.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::restart_test {
namespace {

constexpr std::size_t points = 80;

/// Two classes that overlap, with a bias and a Gaussian kernel.
DualQp two_classes(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> x(points), K(points * points);
  DualQp qp;
  qp.A.assign(1, {});
  qp.d = {0};
  for (std::size_t v = 0; v < points; ++v) {
    const double sign = v % 2 == 0 ? 1 : -1;
    x[v] = rng.normal() + 0.7 * sign;
    qp.row.push_back(static_cast<Index>(v));
    qp.block.push_back({sign, -1, 0, 1, 0});
    qp.A[0].push_back(sign);
  }
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K[i * points + j] = std::exp(-std::pow(x[i] - x[j], 2));
  qp.K = std::make_shared<DenseQuadratic>(points, std::move(K));
  return qp;
}

// Rows of one class are taken out: what they held has to come from others, and only from those
// whose slopes are small.
TEST(StartFromSolution, TakesWhatIsMissingWhereSlopesAreSmall) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DualQp qp = two_classes(seed);
    const Threads threads(1);
    const Certified solved = certify(qp, solve(qp, Smo{.stop = {1e-6, 1e-6}}, threads).solution,
                                     Precision::exact, threads);
    const std::vector<double>& a = solved.solution.a;
    std::size_t taken = 0;
    for (std::size_t v = 0; v < points && taken < 5; v += 2)
      if (a[v] == qp.block[v].upper) {
        qp.block[v].upper = 0;
        ++taken;
      }
    ASSERT_EQ(taken, 5u);
    const auto near = start_from_solution(qp, solved);
    ASSERT_TRUE(near);
    EXPECT_LE(equality_defect(qp, *near), 1e-14);
    double steepest = 0, least = infinity;
    for (std::size_t v = 0; v < points; ++v) {
      const Block& block = qp.block[v];
      EXPECT_GE((*near)[v], 0);
      EXPECT_LE((*near)[v], block.upper);
      // The others of this class go up, those of the other one down, as far as there is room.
      if (block.upper == 0 || (block.sign > 0 ? a[v] == block.upper : a[v] == 0)) continue;
      const double slope =
          std::abs(block.sign * (solved.f[v] + solved.solution.lambda[0]) + block.linear);
      if ((*near)[v] != a[v])
        steepest = std::max(steepest, slope);
      else
        least = std::min(least, slope);
    }
    EXPECT_LT(steepest, least) << seed;
    EXPECT_LT(least, infinity) << seed;  // some stay where they are
  }
}

}  // namespace
}  // namespace maxmargin::restart_test
