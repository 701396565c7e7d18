#include "maxmargin/solver/interior_point/low_rank_path.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/loss/losses.hpp"
#include "maxmargin/solver/equations/point_matrix.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::low_rank_path_test {
namespace {

/// exp(-gamma |x - z|^2) over made rows; the loss's blocks, and the row of a bias.
DualQp machine(const Loss& loss, double gamma, bool bias, std::size_t rows = 150) {
  const bool classes = std::holds_alternative<Logistic>(loss) ||
                       std::holds_alternative<SquaredHinge>(loss) ||
                       std::holds_alternative<Hinge>(loss);
  const Dataset data = classes ? made::classification(rows, 3, made::Storage::dense_doubles, 1)
                               : made::regression(rows, 3, made::Storage::dense_doubles, 1);
  const Rows x = data.x;
  std::vector<double> points(rows * 3), values;
  for (std::size_t i = 0; i < rows; ++i)
    x.for_each(i, [&](Index j, double value) { points[i * 3 + j] = value; });
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < rows; ++k) {
      double square = 0;
      for (std::size_t j = 0; j < 3; ++j)
        square += std::pow(points[i * 3 + j] - points[k * 3 + j], 2);
      values.push_back(std::exp(-gamma * square));
    }
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(rows, std::move(values));
  for (std::size_t i = 0; i < rows; ++i)
    std::visit(
        [&](const auto& chosen) {
          for (const Block& block : chosen.blocks(data.y[i], 2)) {
            qp.block.push_back(block);
            qp.row.push_back(static_cast<Index>(i));
          }
        },
        loss);
  if (bias) {
    auto& row = qp.A.emplace_back();
    for (const Block& block : qp.block) row.push_back(block.sign);
    qp.d = {0};
  }
  return qp;
}

InteriorPoint path(double low_rank, double precision) {
  InteriorPoint options;
  options.low_rank = low_rank;
  options.stop.kkt = options.stop.relative_gap = precision;
  return options;
}

// However roughly the columns follow K, the optimum is that of K.
TEST(LowRankPath, TheOptimumIsThatOfTheMatrix) {
  const Threads threads(2);
  for (const Loss& loss : {Loss{Squared{}}, Loss{Logistic{}}, Loss{SquaredHinge{}},
                           Loss{SquaredEpsilonInsensitive{0.1}}, Loss{Huber{0.3}}})
    for (const bool bias : {true, false})
      for (const double low_rank : {1e-3, 1e-6}) {
        SCOPED_TRACE(std::to_string(loss.index()) + " " + std::to_string(low_rank));
        const DualQp qp = machine(loss, 0.5, bias);
        const Certified whole = solve(qp, path(0, 1e-10), threads);
        const Certified by_low_rank = solve(qp, path(low_rank, 1e-9), threads);
        EXPECT_EQ(by_low_rank.solution.ended, Ended::converged);
        EXPECT_LE(by_low_rank.certificate.kkt, 1e-9);
        EXPECT_NEAR(by_low_rank.certificate.primal, whole.certificate.primal,
                    1e-9 * std::abs(whole.certificate.primal));
      }
}

// A kernel that no few columns are close to: an honest end, whose bounds hold.
TEST(LowRankPath, NarrowKernelsStall) {
  const Threads threads(1);
  const DualQp qp = machine(Hinge{}, 1000, true, 60);
  const Certified whole = solve(qp, path(0, 1e-10), threads);
  const Certified by_low_rank = solve(qp, path(1e-5, 1e-9), threads);
  EXPECT_EQ(by_low_rank.solution.ended, Ended::stalled);
  EXPECT_GE(by_low_rank.certificate.primal, whole.certificate.dual * (1 - 1e-9));
  EXPECT_LE(by_low_rank.certificate.dual, whole.certificate.primal * (1 + 1e-9));
}

// Costs that no other solver takes go on with all of K.
TEST(LowRankPath, NarrowKernelsOfEntropiesConverge) {
  const Threads threads(1);
  const DualQp qp = machine(Logistic{}, 1000, true, 60);
  const Certified whole = solve(qp, path(0, 1e-10), threads);
  const Certified by_low_rank = solve(qp, path(0.5, 1e-9), threads);
  EXPECT_EQ(by_low_rank.solution.ended, Ended::converged);
  EXPECT_NEAR(by_low_rank.certificate.primal, whole.certificate.primal,
              1e-9 * whole.certificate.primal);
}

TEST(LowRankPath, MemoryLimitsTheColumns) {
  const std::size_t bytes = 10 << 20, most = most_low_rank_columns(10000, bytes);
  EXPECT_GT(most, 10u);
  EXPECT_LT(most, 131u);  // of which the columns alone would take 10 MiB
  EXPECT_EQ(most_low_rank_columns(900, std::size_t{1} << 40), 300u);
  EXPECT_EQ(most_low_rank_columns(10000, 1000), 0u);
  InteriorPoint options = path(1e-5, 1e-3);
  options.memory_bytes = 1000;
  EXPECT_TRUE(refuses(machine(Squared{}, 0.5, true), options));
}

TEST(LowRankPath, LimitsLeaveAnAnswer) {
  const Threads threads(1);
  const DualQp qp = machine(Logistic{}, 0.5, true);
  InteriorPoint options = path(1e-5, 1e-9);
  options.stop.seconds = 0;
  const Certified none = solve(qp, options, threads);
  EXPECT_EQ(none.solution.ended, Ended::time_limit);
  options.stop.seconds = infinity;
  options.stop.iterations = 2;
  const Certified two = solve(qp, options, threads);
  EXPECT_EQ(two.solution.ended, Ended::iteration_limit);
  EXPECT_LE(two.certificate.equality_residual, 1e-9);
}

}  // namespace
}  // namespace maxmargin::low_rank_path_test
