// Problems that are broken, or close to it, for every solver of the list: a clear error or an
// honest end, and never "converged" where the conditions of optimality do not hold by the double
// loop.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/kkt_violation.hpp"

namespace maxmargin::solver_faults_test {
namespace {

constexpr std::size_t points = 24;

/// Gaussian kernel values of random points in the plane, with alternating labels.
DualQp made_problem(bool squared_loss = false) {
  Rng rng(5);
  std::vector<double> x(2 * points), K;
  for (double& value : x) value = rng.uniform(-1, 1);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K.push_back(
          std::exp(-std::pow(x[2 * i] - x[2 * j], 2) - std::pow(x[2 * i + 1] - x[2 * j + 1], 2)));
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(points, std::move(K));
  for (std::size_t i = 0; i < points; ++i) {
    qp.block.push_back(
        {i % 2 == 0 ? 1.0 : -1.0, -1, 0, squared_loss ? infinity : 1, squared_loss ? 0.5 : 0});
    qp.row.push_back(static_cast<Index>(i));
  }
  return qp;
}

std::vector<double> signs(const DualQp& qp) {
  std::vector<double> row;
  for (const Block& block : qp.block) row.push_back(block.sign);
  return row;
}

/// Calls check(solver) for each of the list, with tight tolerances and no endless runs.
template <class Check>
void for_each_solver(const Check& check) {
  for_each_component<Solver>([&](auto options) {
    SCOPED_TRACE(std::string(options.name));
    options.stop.kkt = 1e-8;
    options.stop.relative_gap = 1e-9;
    options.stop.seconds = 2;
    check(Solver(options));
  });
}

/// How many solvers took it and converged; each of them at the optimum.
int solved_by(const DualQp& qp) {
  int solved = 0;
  for_each_solver([&](const Solver& solver) {
    if (refusal(qp, solver)) return;
    const Certified result = solve(qp, solver, Threads(1));
    EXPECT_EQ(result.solution.ended, Ended::converged);
    EXPECT_LE(kkt_violation(qp, result.solution), 2e-8);
    ++solved;
  });
  return solved;
}

void expect_error(const DualQp& qp, const std::string& part) {
  for_each_solver([&](const Solver& solver) {
    try {
      solve(qp, solver, Threads(1));
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  });
}

TEST(SolverFaults, BoundsInTheWrongOrderAreAnError) {
  DualQp qp = made_problem();
  qp.block[3].lower = 2;
  expect_error(qp, "variable 3 has its lower bound above its upper bound");
  qp.block[3].lower = std::nan("");
  expect_error(qp, "variable 3");
}

TEST(SolverFaults, CostsThatAreNoNumbersAreAnError) {
  DualQp qp = made_problem();
  qp.block[7].linear = std::nan("");
  expect_error(qp, "variable 7 has a cost that is not a finite number");
  qp = made_problem();
  qp.block[2].curvature = -1;
  expect_error(qp, "variable 2 has a negative or infinite curvature");
  qp.block[2].curvature = infinity;
  expect_error(qp, "choose larger costs");
}

TEST(SolverFaults, ASumThatNoCoefficientsHaveIsAnError) {
  DualQp qp = made_problem();
  qp.A = {std::vector<double>(points, 1.0)};
  qp.d = {points + 1.0};
  expect_error(qp, "equality row 0");
}

// Each row can be fulfilled, both of them cannot.
TEST(SolverFaults, RowsThatContradictEachOtherNeverConverge) {
  DualQp qp = made_problem();
  qp.A = {std::vector<double>(points, 1.0), std::vector<double>(points, 1.0)};
  qp.d = {5, 6};
  int said = 0;
  for_each_solver([&](const Solver& solver) {
    if (refusal(qp, solver)) return;
    try {
      const Certified result = solve(qp, solver, Threads(1));
      EXPECT_NE(result.solution.ended, Ended::converged);
      EXPECT_GE(result.certificate.equality_residual, 0.1);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data);
      ++said;
    }
  });
  EXPECT_GE(said, 1);  // the interior point method says so
}

TEST(SolverFaults, RepeatedRowsDoNoHarm) {
  DualQp qp = made_problem();
  qp.A = {signs(qp), signs(qp), std::vector<double>(points, 1.0)};
  qp.d = {0, 0, 9};
  EXPECT_GE(solved_by(qp), 2);
}

// Only one point fulfils the rows: nothing lies strictly inside.
TEST(SolverFaults, AnEmptyInteriorHasOnePoint) {
  DualQp qp = made_problem();
  qp.A = {signs(qp), std::vector<double>(points, 1.0)};
  qp.d = {0, points};
  for_each_solver([&](const Solver& solver) {
    if (refusal(qp, solver)) return;
    const Certified result = solve(qp, solver, Threads(1));
    for (const double value : result.solution.a) EXPECT_NEAR(value, 1, 1e-8);
  });
}

TEST(SolverFaults, ASingularMatrixHasAnOptimum) {
  for (const bool squared_loss : {false, true}) {
    DualQp qp = made_problem(squared_loss);
    std::vector<double> K;
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t j = 0; j < points; ++j)
        K.push_back(1 + 0.1 * static_cast<double>(i % 3) * static_cast<double>(j % 3));
    qp.K = std::make_shared<DenseQuadratic>(points, std::move(K));
    EXPECT_GE(solved_by(qp), squared_loss ? 3 : 2);
    qp.A = {signs(qp)};
    qp.d = {0};
    EXPECT_GE(solved_by(qp), 3);
  }
}

// A matrix that claims to be positive semi-definite and is not.
TEST(SolverFaults, AnIndefiniteMatrixEndsHonestly) {
  for (const bool squared_loss : {false, true}) {
    DualQp qp = made_problem(squared_loss);
    Rng rng(3);
    std::vector<double> K(points * points);
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        K[i * points + j] = K[j * points + i] = rng.uniform(-1, 1) + (i == j ? 0.3 : 0);
    qp.K = std::make_shared<DenseQuadratic>(points, std::move(K));
    for (const bool with_row : {false, true}) {
      if (with_row) {
        qp.A = {signs(qp)};
        qp.d = {0};
      }
      for_each_solver([&](const Solver& solver) {
        if (refusal(qp, solver)) return;
        const Certified result = solve(qp, solver, Threads(1));
        if (result.solution.ended != Ended::converged) return;
        EXPECT_LE(kkt_violation(qp, result.solution), 2e-8);
      });
    }
  }
}

TEST(SolverFaults, TooLittleMemorySaysHowMuchIsNeeded) {
  const DualQp qp = made_problem(true);
  int said = 0;
  for_each_component<Solver>([&](auto options) {
    if constexpr (requires { options.memory_bytes; }) {
      options.memory_bytes = 100;
      const auto why = refusal(qp, options);
      ASSERT_TRUE(why.has_value()) << options.name;
      EXPECT_NE(why->find("it needs 0.01 GiB"), std::string::npos) << *why;
      EXPECT_THROW(solve(qp, options, Threads(1)), Error);
      ++said;
    }
  });
  EXPECT_GE(said, 2);
}

}  // namespace
}  // namespace maxmargin::solver_faults_test
