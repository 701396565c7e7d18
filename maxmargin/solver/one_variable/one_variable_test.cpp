#include "maxmargin/solver/one_variable/one_variable.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/biased.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/noisy_machine.hpp"

namespace maxmargin::one_variable_test {
namespace {

/// Two noisy classes in the plane, with a penalised bias.
DualQp two_classes(std::size_t rows, double cost) {
  DualQp qp = made::machine({.size = rows, .functions = 0, .C = cost});
  qp.K = make_biased(qp.K);
  return qp;
}

template <class Options>
Certified solved(const DualQp& qp, Options options) {
  options.stop.kkt = 1e-6;
  options.stop.relative_gap = 1e-8;
  const Threads threads(1);
  return solve(qp, options, threads);
}

TEST(OneVariable, AllFindTheOptimumOfADenseReference) {
  for (const double cost : {0.1, 5.0}) {
    const DualQp qp = two_classes(40, cost);
    const double optimum = reference::dense_optimum(qp).dual;
    const auto expect_optimum = [&](const Certified& found) {
      EXPECT_EQ(found.solution.ended, Ended::converged);
      EXPECT_NEAR(found.certificate.dual, optimum, 1e-7 * optimum);
      EXPECT_NEAR(found.certificate.primal, optimum, 1e-7 * optimum);
    };
    for (const int set : {1, 5, 256})
      expect_optimum(solved(qp, GaussSeidel{.stop = {}, .working_set = set}));
    for (const double relaxation : {0.3, 1.0, 1.3, 1.9})
      expect_optimum(solved(qp, Sor{.stop = {}, .relaxation = relaxation}));
    for (const double rate : {0.3, 1.0, 1.9})
      expect_optimum(solved(qp, AdaTron{.stop = {}, .rate = rate}));
  }
}

// With room for one row and with room for all of them a sweep goes the same way, but for the
// rounding of kernel values to float.
TEST(OneVariable, SweepsDoNotDependOnTheMemory) {
  const DualQp qp = two_classes(100, 1);
  const Threads threads(1);
  Sor sor;
  const Certified usual = solve(qp, sor, threads);
  sor.cache_bytes = 1;
  const Certified scarce = solve(qp, sor, threads);
  const auto steps = static_cast<double>(usual.solution.iterations);
  EXPECT_NEAR(static_cast<double>(scarce.solution.iterations), steps, 0.05 * steps);
  EXPECT_NEAR(usual.certificate.dual, scarce.certificate.dual, 1e-5 * usual.certificate.dual);
}

TEST(OneVariable, StopAtTheirLimitsAndSaySo) {
  const DualQp qp = two_classes(400, 100);
  Sor few;
  few.stop.iterations = 10;
  const Threads threads(1);
  const Certified limited = solve(qp, few, threads);
  EXPECT_EQ(limited.solution.ended, Ended::iteration_limit);
  EXPECT_EQ(limited.solution.iterations, 10u);
  EXPECT_GT(limited.certificate.gap, 0);
  AdaTron no_time;
  no_time.stop.seconds = 0;
  EXPECT_EQ(solve(qp, no_time, threads).solution.ended, Ended::time_limit);
  GaussSeidel watched;
  watched.stop.kkt = 1e-13;
  watched.stop.relative_gap = 1e-15;
  const Context impatient(threads, [](const Progress&) { return Control::cancel; });
  EXPECT_EQ(solve(two_classes(2000, 1e5), watched, impatient).solution.ended, Ended::cancelled);
}

TEST(OneVariable, RefuseEqualityRows) {
  DualQp qp = two_classes(10, 1);
  qp.A = {std::vector<double>(10, 1.0)};
  qp.d = {0};
  EXPECT_TRUE(refuses(qp, GaussSeidel{}).has_value());
  EXPECT_TRUE(refuses(qp, Sor{}).has_value());
  EXPECT_TRUE(refuses(qp, AdaTron{}).has_value());
}

}  // namespace
}  // namespace maxmargin::one_variable_test
