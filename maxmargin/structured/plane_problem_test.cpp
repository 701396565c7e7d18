#include "maxmargin/structured/plane_problem.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::plane_problem_test {
namespace {

/// Planes that differ from one another by so much.
PlaneProblem made(std::size_t planes, double apart, double capacity, double curvature,
                  std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> common(planes);
  for (double& each : common) each = rng.normal();
  std::vector<std::vector<double>> psi(planes, common);
  PlaneProblem problem;
  for (auto& plane : psi) {
    for (double& each : plane) each += apart * rng.normal();
    problem.s.push_back(1 + apart * rng.normal());
  }
  for (const auto& a : psi)
    for (const auto& b : psi)
      problem.G.push_back(std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
  problem.alpha.assign(planes, 0.0);
  problem.capacity = capacity;
  problem.curvature = curvature;
  return problem;
}

/// The truth is one more plane where there is a capacity.
double optimum_of(const PlaneProblem& p) {
  const std::size_t size = p.s.size();
  const bool bounded = p.capacity < infinity;
  std::vector<double> K((size + bounded) * (size + bounded), 0.0);
  DualQp qp;
  for (std::size_t k = 0; k < size + bounded; ++k) {
    qp.row.push_back(static_cast<Index>(k));
    qp.block.push_back({1, k < size ? -p.s[k] : 0, 0, infinity, 0});
    for (std::size_t l = 0; k < size && l < size; ++l)
      K[k * (size + bounded) + l] = p.G[k * size + l] + p.curvature;
  }
  if (bounded) {
    qp.A.emplace_back(size + 1, 1.0);
    qp.d.push_back(p.capacity);
  }
  qp.K = std::make_shared<DenseQuadratic>(size + bounded, std::move(K));
  return reference::dense_optimum(qp).dual;
}

double value_of(const PlaneProblem& p, std::span<const double> s) {
  double value = 0;
  for (std::size_t k = 0; k < p.s.size(); ++k) value += p.alpha[k] * (s[k] + p.s[k]) / 2;
  return value;
}

void expect_optimum(PlaneProblem problem) {
  const double optimum = optimum_of(problem);
  const std::vector<double> first = problem.s;
  const double violation = solve_by_pairs(problem, 1e-9, 20000);
  double sum = 0;
  for (const double a : problem.alpha) {
    EXPECT_GE(a, 0);
    sum += a;
  }
  EXPECT_LE(sum, problem.capacity * (1 + 1e-12));
  EXPECT_EQ(violation, *std::ranges::max_element(first));
  EXPECT_NEAR(value_of(problem, first), optimum, 1e-8 * optimum);
  // s belongs to alpha.
  for (std::size_t k = 0; k < first.size(); ++k) {
    double s = first[k];
    for (std::size_t l = 0; l < first.size(); ++l)
      s -= problem.alpha[l] * (problem.G[k * first.size() + l] + problem.curvature);
    EXPECT_NEAR(problem.s[k], s, 1e-9);
  }
}

TEST(PlaneProblem, IsSolvedWithAndWithoutACapacityAndACurvature) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const double apart : {1.0, 0.1})
      for (const double capacity : {0.02, 1.0, infinity})
        for (const double curvature : {0.0, 0.5}) {
          SCOPED_TRACE(std::to_string(seed) + ' ' + std::to_string(apart) + ' ' +
                       std::to_string(capacity) + ' ' + std::to_string(curvature));
          expect_optimum(made(10, apart, capacity, curvature, seed));
        }
}

/// Pairs alone take 100 to 1,200 steps to this violation.
TEST(PlaneProblem, StepsOfNewtonsSolveNearlyEqualPlanes) {
  for (const std::uint64_t seed : {3, 4, 5}) {
    SCOPED_TRACE(seed);
    constexpr std::size_t planes = 20;
    PlaneProblem problem = made(planes, 0.1, 10, 0, seed);
    const double first = solve_by_pairs(problem, 1e-9, 10 + 2 * planes);
    double most = 0, least = infinity;
    for (std::size_t k = 0; k < planes; ++k) {
      most = std::max(most, problem.s[k]);
      if (problem.alpha[k] > 0) least = std::min(least, problem.s[k]);
    }
    EXPECT_LE(most - least, 1e-9 * first);
  }
}

}  // namespace
}  // namespace maxmargin::plane_problem_test
