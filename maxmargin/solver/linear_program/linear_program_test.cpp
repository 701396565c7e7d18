// The linear-programming machine: its gap, computed here once more, and programs solved by hand.
#include "maxmargin/solver/linear_program/linear_program.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/error.hpp"
#include "maxmargin/loss/losses.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::linear_program_test {
namespace {

template <class Chosen>
DualQp problem_of(const Dataset& data, const Chosen& loss, double cost, bool bias,
                  const Kernel& kernel) {
  DualQp qp;
  Features copy = Features::dense(data.x.columns());
  copy.append(data.x.view());
  qp.K = make_kernel_quadratic(kernel, std::make_shared<const Features>(std::move(copy)), {},
                               Definite::yes, Threads(1));
  for (std::size_t i = 0; i < data.rows(); ++i)
    for (const Block& block : loss.blocks(data.y[i], cost)) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back(block);
    }
  if (bias) {
    auto& row = qp.A.emplace_back();
    for (const Block& block : qp.block) row.push_back(block.sign);
    qp.d.push_back(0);
  }
  return qp;
}

ExpansionSolved solved(const DualQp& qp) {
  LinearProgram options;
  options.stop.kkt = 1e-7;
  options.stop.relative_gap = 1e-8;
  return solve(qp, options, Threads(1));
}

/// Both objectives by plain loops: the dual point must be feasible, and then they enclose the
/// optimum.
void expect_optimal(const DualQp& qp, const ExpansionSolved& found) {
  EXPECT_EQ(found.ended, Ended::converged) << found.certified.certificate.relative_gap;
  const ExpansionPoint& at = found.certified.expansion;
  const std::size_t m = qp.K->size();
  std::vector<double> f(m, 0.0), correlation(m, 0.0), row(m);
  const std::vector<double> signed_a = qp.coefficients(at.a);
  for (std::size_t i = 0; i < m; ++i) {
    const auto which = static_cast<Index>(i);
    qp.K->exact_block(std::span(&which, 1), 0, m, row.data(), m);
    for (std::size_t j = 0; j < m; ++j) {
      f[i] += row[j] * at.beta[j];
      correlation[i] += row[j] * signed_a[j];
    }
  }
  double primal = 0, dual = 0, sum = 0;
  for (std::size_t p = 0; p < m; ++p) {
    primal += std::abs(at.beta[p]);
    EXPECT_LE(std::abs(correlation[p]), 1 + 1e-9);
  }
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    const double b = qp.A.empty() ? 0 : at.lambda[0];
    primal += block.conjugate(-block.sign * (f[qp.row[v]] + b));
    dual -= block.value(at.a[v]);
    EXPECT_GE(at.a[v], block.lower);
    EXPECT_LE(at.a[v], block.upper);
    if (!qp.A.empty()) sum += block.sign * at.a[v];
  }
  EXPECT_NEAR(sum, 0, 1e-8);
  EXPECT_NEAR(primal, dual, 1e-7 * std::abs(primal));
  EXPECT_NEAR(found.certified.certificate.primal, primal, 1e-9 * std::abs(primal));
  EXPECT_NEAR(found.certified.certificate.gap, primal - dual, 1e-9 * (1 + std::abs(primal)));
}

TEST(LinearProgram, IsSolvedToItsGap) {
  const Dataset data = made::classification(60, 3, made::Storage::dense_doubles, 1);
  const Dataset numbers = made::regression(50, 2, made::Storage::dense_doubles, 2);
  for (const bool bias : {true, false})
    for (const double cost : {0.1, 3.0, 100.0}) {
      const DualQp margin = problem_of(data, Hinge{}, cost, bias, Rbf{1.0});
      expect_optimal(margin, solved(margin));
      const DualQp tube = problem_of(numbers, EpsilonInsensitive{0.1}, cost, bias, Rbf{2.0});
      expect_optimal(tube, solved(tube));
      const DualQp quantile = problem_of(numbers, Pinball{0.8}, cost, bias, Rbf{2.0});
      expect_optimal(quantile, solved(quantile));
    }
}

TEST(LinearProgram, ByHand) {
  // K = 1: f(x_i) = beta_i, and 1 - |beta_i| costs C: worth it just where C > 1.
  for (const double cost : {0.5, 4.0}) {
    DualQp qp;
    qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 0, 0, 1});
    for (const double y : {1.0, -1.0}) {
      qp.row.push_back(y > 0 ? 0 : 1);
      for (const Block& block : Hinge{}.blocks(y, cost)) qp.block.push_back(block);
    }
    const ExpansionSolved found = solved(qp);
    EXPECT_NEAR(found.certified.certificate.primal, 2 * std::min(1.0, cost), 1e-6);
    EXPECT_NEAR(found.certified.expansion.beta[0], cost > 1 ? 1 : 0, 1e-5);
    EXPECT_NEAR(found.certified.expansion.beta[1], cost > 1 ? -1 : 0, 1e-5);
  }
}

TEST(LinearProgram, LeavesMostCoefficientsAtZero) {
  const Dataset data = made::classification(120, 2, made::Storage::dense_doubles, 3);
  const DualQp qp = problem_of(data, Hinge{}, 1, true, Rbf{1.0});
  const ExpansionSolved found = solved(qp);
  EXPECT_LT(std::ranges::count_if(found.certified.expansion.beta, [](double b) { return b != 0; }),
            40);
}

/// Counts the blocks that it is asked for.
class Counting : public DenseQuadratic {
 public:
  using DenseQuadratic::DenseQuadratic;
  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    ++blocks;
    DenseQuadratic::exact_block(which, begin, count, out, stride);
  }
  mutable std::size_t blocks = 0;
};

TEST(LinearProgram, EndsBeforeItsMatrixIsThere) {
  constexpr std::size_t size = 300;
  std::vector<double> values(size * size, 0.25);
  for (std::size_t p = 0; p < size; ++p) values[p * size + p] = 1;
  const auto K = std::make_shared<Counting>(size, std::move(values));
  DualQp qp;
  qp.K = K;
  qp.A.emplace_back();
  qp.d.push_back(0);
  for (std::size_t p = 0; p < size; ++p) {
    const double target = p % 2 == 0 ? 1 : -1;
    qp.row.push_back(static_cast<Index>(p));
    qp.block.push_back(Hinge{}.blocks(target, 2.0)[0]);
    qp.A[0].push_back(target);
  }
  const Threads threads(1);
  const ExpansionSolved found =
      solve(qp, LinearProgram{}, {threads, [](const Progress&) { return Control::cancel; }});
  EXPECT_EQ(found.ended, Ended::cancelled);
  EXPECT_EQ(K->blocks, 0u);
  // No function loses the cost of every row.
  EXPECT_EQ(found.certified.expansion.beta, std::vector<double>(size, 0.0));
  EXPECT_NEAR(found.certified.certificate.primal, 600, 1e-9);
  EXPECT_NEAR(found.certified.certificate.dual, 0, 1e-12);
}

TEST(LinearProgram, RefusesCostsThatAreCurvedOrInfiniteAndTooLittleMemory) {
  const Dataset data = made::classification(20, 2, made::Storage::dense_doubles, 4);
  EXPECT_TRUE(refuses(problem_of(data, SquaredHinge{}, 1, true, Rbf{}), LinearProgram{}));
  EXPECT_TRUE(refuses(problem_of(data, Hinge{}, infinity, true, Rbf{}), LinearProgram{}));
  EXPECT_TRUE(refuses(problem_of(data, Hinge{}, 1, true, Rbf{}), LinearProgram{{}, 1000}));
  EXPECT_FALSE(refuses(problem_of(data, Hinge{}, 1, true, Rbf{}), LinearProgram{}));
  EXPECT_THROW(solve(problem_of(data, SquaredHinge{}, 1, true, Rbf{}), LinearProgram{}, Threads(1)),
               Error);
}

}  // namespace
}  // namespace maxmargin::linear_program_test
