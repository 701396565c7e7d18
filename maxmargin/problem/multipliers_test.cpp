#include "maxmargin/problem/multipliers.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::multipliers_test {
namespace {

struct Made {
  DualQp qp;  ///< without a matrix: q takes its place
  std::vector<double> q;
};

/// Blocks of all kinds and any rows, with d = A a for some a within the bounds.
Made made(std::size_t variables, std::size_t rows, Rng& rng) {
  Made result;
  DualQp& qp = result.qp;
  qp.A.assign(rows, {});
  qp.d.assign(rows, 0.0);
  for (std::size_t v = 0; v < variables; ++v) {
    const double curvature = rng.below(2) == 0 ? 0 : rng.uniform(0.1, 2);
    Block block{rng.below(2) == 0 ? 1.0 : -1.0, rng.normal(), -rng.uniform(), rng.uniform(0.1, 2),
                curvature};
    if (curvature > 0 && rng.below(3) == 0) block.upper = infinity;
    if (curvature > 0 && rng.below(3) == 0) block.lower = -infinity;
    if (rng.below(10) == 0) block = {1, rng.normal(), 0.5, 0.5, 0};
    const double a = rng.uniform(std::max(block.lower, -2.0), std::min(block.upper, 2.0));
    for (std::size_t r = 0; r < rows; ++r) {
      qp.A[r].push_back(rng.normal());
      qp.d[r] += qp.A[r][v] * a;
    }
    qp.block.push_back(block);
    result.q.push_back(rng.normal());
  }
  return result;
}

double primal_at(const Made& made, const std::vector<double>& lambda) {
  double sum = 0;
  for (std::size_t r = 0; r < lambda.size(); ++r) sum += lambda[r] * made.qp.d[r];
  for (std::size_t v = 0; v < made.q.size(); ++v) {
    double h = made.q[v];
    for (std::size_t r = 0; r < lambda.size(); ++r) h += made.qp.A[r][v] * lambda[r];
    sum += made.qp.block[v].conjugate(-h);
  }
  return sum;
}

// The primal is convex: where no small step in any direction lowers it, it is smallest.
TEST(BestMultipliers, NoOthersMakeThePrimalSmaller) {
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t rows = 1 + rng.below(5);
    const Made problem = made(2 * rows + rng.below(60), rows, rng);
    const std::vector<double> best =
        best_multipliers(problem.qp, problem.q, std::vector<double>(rows, 0.0));
    const double smallest = primal_at(problem, best);
    for (const double size : {1e-5, 1e-3, 0.1, 1.0})
      for (int direction = 0; direction < 20; ++direction) {
        std::vector<double> other = best;
        for (double& each : other) each += size * rng.normal();
        EXPECT_GE(primal_at(problem, other), smallest - 1e-9) << trial << ", " << size;
      }
  }
}

TEST(BestMultipliers, AreNeverWorseThanTheStart) {
  // d lies on the edge of what the variables can reach: lambda could grow without end.
  Rng rng(2);
  Made problem = made(20, 2, rng);
  for (Block& block : problem.qp.block) block = {1, 0.5, 0, 1, 0};
  for (double& entry : problem.qp.A[0]) entry = 1;
  problem.qp.d = {20, 0};
  for (const double entry : problem.qp.A[1]) problem.qp.d[1] += entry;
  for (const double at : {-100.0, 0.0, 3.0}) {
    const std::vector<double> start(2, at);
    EXPECT_LE(primal_at(problem, best_multipliers(problem.qp, problem.q, start)),
              primal_at(problem, start));
  }
}

// Of the hard margins: what has an upper bound pays for its errors and has no say.
TEST(WidestMultipliers, NoOthersMakeTheSmallestHardMarginLarger) {
  Rng rng(3);
  for (int trial = 0; trial < 50; ++trial) {
    Made problem;
    DualQp& qp = problem.qp;
    qp.A.assign(2, {});
    qp.d.assign(2, 0.0);
    for (int v = 0; v < 30; ++v) {
      const double sign = v % 2 == 0 ? 1 : -1;
      qp.block.push_back({sign, -rng.uniform(0.5, 2), 0, v % 3 == 0 ? 1 : infinity, 0});
      qp.A[0].push_back(sign);
      qp.A[1].push_back(rng.normal());
      problem.q.push_back(rng.normal());
    }
    const auto smallest_margin = [&](const std::vector<double>& lambda) {
      double smallest = infinity;
      for (std::size_t v = 0; v < problem.q.size(); ++v) {
        if (!qp.block[v].is_hard()) continue;
        const double h = problem.q[v] + lambda[0] * qp.A[0][v] + lambda[1] * qp.A[1][v];
        smallest = std::min(smallest, -h / qp.block[v].linear);
      }
      return smallest;
    };
    const std::vector<double> widest = widest_multipliers(qp, problem.q, {0.0, 0.0});
    for (const double size : {1e-5, 1e-3, 0.1, 1.0})
      for (int direction = 0; direction < 20; ++direction) {
        const std::vector<double> other{widest[0] + size * rng.normal(),
                                        widest[1] + size * rng.normal()};
        EXPECT_LE(smallest_margin(other), smallest_margin(widest) + 1e-9) << trial << " " << size;
      }
  }
}

}  // namespace
}  // namespace maxmargin::multipliers_test
