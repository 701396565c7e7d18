#include "maxmargin/certify/streamed.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/made_data.hpp"
#include "tests/streamed_and_in_memory.hpp"

namespace maxmargin::streamed_certificate_test {
namespace {

using Constant = StreamedProblem::Constant;

/// The variables of a problem in memory, chunk by chunk.
StreamedVariables by_chunk(const DualQp& qp, const std::vector<double>& a) {
  return [&](const RowChunk& chunk) {
    std::vector<double> own;
    for (std::size_t v = 0; v < qp.size(); ++v)
      if (qp.row[v] >= chunk.first_row && qp.row[v] < chunk.first_row + chunk.rows)
        own.push_back(a[v]);
    return own;
  };
}

/// What is free of a point, in the order of one: the coefficients of functions, then the constant.
std::vector<double> free_of(const std::vector<double>& lambda, Constant constant) {
  std::vector<double> free = lambda;
  if (constant == Constant::free) std::rotate(free.begin(), free.begin() + 1, free.end());
  return free;
}

// A point that violates its equality rows may have a dual above the optimum, unless it is charged
// for that. Whatever point is judged, the optimum has to lie between its bounds.
void expect_the_optimum_within(const Both& both, const Loss& loss, Constant constant) {
  SCOPED_TRACE(std::to_string(loss.index()) + " " + std::to_string(static_cast<int>(constant)) +
               " " + std::to_string(both.functions));
  const DualQp qp = both.in_memory(loss, 1, constant);
  const StreamedProblem problem = both.streamed(loss, 1, constant);
  const Threads threads(1);
  const Certified best = solve(qp, InteriorPoint{.stop = {1e-9, 1e-9}}, threads);
  ASSERT_EQ(best.solution.ended, Ended::converged);
  Rng rng(3);
  std::size_t bounded = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const double size = std::pow(10, rng.uniform(-9, 0));
    std::vector<double> a = best.solution.a, lambda = best.solution.lambda;
    for (std::size_t v = 0; v < a.size(); ++v)
      if (rng.uniform() < 0.4)
        a[v] = std::clamp(a[v] + size * rng.uniform(-0.3, 1), qp.block[v].lower, qp.block[v].upper);
    for (double& each : lambda) each += size * rng.normal();
    const Certificate c =
        certify(problem, by_chunk(qp, a), free_of(lambda, constant), threads).certificate;
    EXPECT_LE(c.dual, best.certificate.primal) << trial;
    EXPECT_GE(c.primal, best.certificate.dual) << trial;
    bounded += std::isfinite(c.dual);
    // A small residual has a small price.
    if (size < 1e-6) {
      EXPECT_GE(c.dual, best.certificate.primal * (1 - 1e-3)) << trial;
    }
    // f, the objectives and the violation as the machine in memory has them.
    std::vector<double> f(qp.K->size());
    qp.K->multiply(qp.coefficients(a), f, Precision::exact, threads);
    const Evaluation evaluation = evaluate(qp, a, f, lambda);
    // Multipliers of functions are others there; entropies have infinite slopes at bounds.
    if (both.functions == 0 && (std::isfinite(c.kkt) || std::isfinite(evaluation.kkt))) {
      EXPECT_NEAR(c.kkt, evaluation.kkt, 1e-9 * (1 + evaluation.kkt)) << trial;
    }
    if (qp.A.empty()) {
      EXPECT_NEAR(c.dual, evaluation.dual, 1e-9 * std::abs(evaluation.dual)) << trial;
      EXPECT_NEAR(c.primal, evaluation.primal, 1e-9 * evaluation.primal) << trial;
    }
  }
  EXPECT_GT(bounded, 30u);  // for most of them there is a bound
}

TEST(StreamedCertificate, TheOptimumIsBetweenTheBoundsOfAnyPoint) {
  const Both classes(made::classification(150, 4, made::Storage::dense_doubles, 1));
  const Both with_functions(made::classification(150, 5, made::Storage::dense_doubles, 2), 2);
  const Both numbers(made::regression(150, 4, made::Storage::dense_doubles, 3));
  for (const Constant constant : {Constant::free, Constant::penalised, Constant::none}) {
    for (const Both* both : {&classes, &with_functions}) {
      expect_the_optimum_within(*both, Hinge{}, constant);
      expect_the_optimum_within(*both, SquaredHinge{}, constant);
      expect_the_optimum_within(*both, Logistic{}, constant);
    }
    expect_the_optimum_within(numbers, EpsilonInsensitive{0.1}, constant);
    expect_the_optimum_within(numbers, Squared{}, constant);
  }
}

TEST(StreamedCertificate, SaysHowFarVariablesAreOutsideTheirBounds) {
  const Both both(made::classification(150, 4, made::Storage::dense_doubles, 1));
  const DualQp qp = both.in_memory(Hinge{}, 1, Constant::none);
  const StreamedProblem problem = both.streamed(Hinge{}, 1, Constant::none);
  std::vector<double> a(qp.size(), 0.5);
  EXPECT_EQ(certify(problem, by_chunk(qp, a), {}, Threads(1)).certificate.bound_residual, 0);
  a[70] = 1.25;
  EXPECT_EQ(certify(problem, by_chunk(qp, a), {}, Threads(1)).certificate.bound_residual, 0.25);
  a[149] = -0.5;
  EXPECT_EQ(certify(problem, by_chunk(qp, a), {}, Threads(1)).certificate.bound_residual, 0.5);
}

// No features at all: a constant, or one function, for squared errors. At f = 0 every variable is
// where its error says, no slope charges anything, and the rest is how a parabola bends.
TEST(StreamedCertificate, ChargesHowMuchVariablesBendOnTheirWay) {
  for (const Constant constant : {Constant::free, Constant::none}) {
    Dataset data;
    data.x = Features::dense(2);
    double squares = 0, along = 0, wide = 0;
    for (int i = 0; i < 40; ++i) {
      const double y = 0.5 + 0.05 * (i % 7),
                   psi = constant == Constant::free ? 1 : 1 + 0.2 * (i % 3);
      data.x.append(constant == Constant::free ? std::vector<double>{0, 0}
                                               : std::vector<double>{0, psi});
      data.y.push_back(y);
      squares += y * y, along += y * psi, wide += psi * psi;
    }
    const Both both(std::move(data), constant == Constant::free ? 0 : 1);
    const StreamedProblem problem = both.streamed(Squared{}, 1, constant);
    const DualQp qp = both.in_memory(Squared{}, 1, constant);
    std::vector<double> a;
    for (const Block& block : qp.block) a.push_back(block.argmax(0));
    const double scale = qp.block[0].conjugate(0) / (both.data.y[0] * both.data.y[0]);
    const Certificate c =
        certify(problem, by_chunk(qp, a), std::vector<double>{0.0}, Threads(1)).certificate;
    EXPECT_NEAR(c.primal, scale * squares, 1e-12 * squares);
    EXPECT_LE(c.dual, scale * (squares - along * along / wide) * (1 + 1e-12));
    EXPECT_TRUE(std::isfinite(c.dual));
  }
}

}  // namespace
}  // namespace maxmargin::streamed_certificate_test
