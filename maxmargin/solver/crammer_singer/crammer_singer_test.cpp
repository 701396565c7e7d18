// Crammer and Singer's machine against an interior point method on the same problem written out.
#include "maxmargin/solver/crammer_singer/crammer_singer.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::crammer_singer_test {
namespace {

struct Made {
  std::shared_ptr<const Features> x;
  SimplexQp qp;
};

Made made_problem(std::size_t rows, std::size_t classes, const Kernel& kernel, std::uint64_t seed) {
  Dataset data =
      made::classification(rows, 3, made::Storage::dense_doubles, seed, static_cast<int>(classes));
  Made made;
  made.x = std::make_shared<const Features>(std::move(data.x));
  made.qp.K = make_kernel_quadratic(kernel, made.x, {}, Definite::yes, Threads(1));
  made.qp.classes = classes;
  Rng rng(seed);
  for (std::size_t i = 0; i < rows; ++i) {
    made.qp.row.push_back(static_cast<Index>(i));
    made.qp.label.push_back(static_cast<Index>(data.y[i] < 0 ? 0 : data.y[i] - 1));
    made.qp.cost.push_back(rng.uniform(0.5, 5));
  }
  return made;
}

/// The same problem with one variable a = upper - t for each pair of example and class, one
/// equality row for each example.
double written_out(const SimplexQp& qp) {
  const std::size_t n = qp.size(), c = qp.classes;
  std::vector<double> K(n * c * n * c, 0.0), row(n);
  DualQp dense;
  for (std::size_t i = 0; i < n; ++i) {
    const auto which = static_cast<Index>(i);
    qp.K->exact_block(std::span(&which, 1), 0, n, row.data(), n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < c; ++k) K[(i * c + k) * n * c + j * c + k] = row[j];
    dense.A.emplace_back(n * c, 0.0);
    dense.d.push_back(0);
    for (std::size_t k = 0; k < c; ++k) {
      dense.row.push_back(static_cast<Index>(i * c + k));
      dense.block.push_back({1, qp.error(i, k), -qp.cost[i], qp.upper(i, k), 0});
      dense.A.back()[i * c + k] = 1;
    }
  }
  dense.K = std::make_shared<DenseQuadratic>(n * c, std::move(K));
  InteriorPoint options;
  options.stop.kkt = 1e-10;
  options.stop.relative_gap = 1e-11;
  return solve(dense, options, Threads(1)).certificate.dual;
}

TEST(CrammerSinger, IsTheOptimumOfTheProblemWrittenOut) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const std::size_t classes = 2 + seed % 3;
    const Kernel kernel = seed % 2 == 0 ? Kernel(Rbf{1.0}) : Kernel(Linear{});
    const Made made = made_problem(18, classes, kernel, seed);
    const double optimum = written_out(made.qp);
    const Rows rows = *made.x;
    for (const Rows* x : {static_cast<const Rows*>(nullptr), &rows}) {
      if (x != nullptr && seed % 2 == 0) continue;
      const SimplexSolved solved =
          solve(made.qp, x, {{1e-9, 1e-10}, std::size_t{1} << 24, 1}, Threads(1));
      const Certificate& found = solved.certified.certificate;
      EXPECT_EQ(solved.solution.ended, Ended::converged) << solved.solver << seed;
      EXPECT_NEAR(found.primal, optimum, 1e-8 * std::abs(optimum)) << solved.solver << seed;
      EXPECT_NEAR(found.dual, optimum, 1e-8 * std::abs(optimum)) << solved.solver << seed;
      EXPECT_LE(found.equality_residual, 1e-12);
      EXPECT_EQ(found.bound_residual, 0);
    }
  }
}

TEST(CrammerSinger, ASimplexIsSolvedExactly) {
  Rng rng(5);
  std::vector<double> sorted;
  for (int round = 0; round < 200; ++round) {
    const std::size_t classes = 2 + rng.below(5), label = rng.below(classes);
    const double diagonal = rng.uniform(0.1, 3), cost = rng.uniform(0.1, 3);
    std::vector<double> b(classes), a(classes);
    for (double& value : b) value = rng.normal();
    solve_simplex(diagonal, b, label, cost, a, sorted);
    double sum = 0, largest = -infinity, lowest = infinity;
    for (std::size_t k = 0; k < classes; ++k) {
      const double slope = diagonal * a[k] + b[k], upper = k == label ? cost : 0;
      EXPECT_LE(a[k], upper);
      sum += a[k];
      largest = std::max(largest, slope);
      if (a[k] < upper) lowest = std::min(lowest, slope);
    }
    EXPECT_NEAR(sum, 0, 1e-12);
    EXPECT_LE(largest - lowest, 1e-10);
  }
}

TEST(CrammerSinger, GapIsASumOverRowsThatNoPointMakesNegative) {
  const Made made = made_problem(20, 3, Rbf{1.0}, 9);
  Rng rng(10);
  std::vector<double> a(20 * 3), sorted, b(3);
  for (std::size_t i = 0; i < 20; ++i) {
    for (double& value : b) value = rng.normal();
    solve_simplex(0.3, b, made.qp.label[i], made.qp.cost[i], {&a[i * 3], 3}, sorted);
  }
  const SimplexCertified found = certify(made.qp, a, Precision::exact, Threads(1));
  double sum = 0;
  for (const Certificate& each : found.of_class) {
    EXPECT_GE(each.gap, 0);
    sum += each.gap;
  }
  EXPECT_NEAR(sum, found.certificate.primal - found.certificate.dual, 1e-9);
  EXPECT_GT(sum, 0);
}

TEST(CrammerSinger, TheSameBitsForAnyNumberOfThreadsWithASmallWorkingSet) {
  const Made made = made_problem(120, 4, Rbf{2.0}, 3);
  const Stop stop{1e-4, 1e-4};
  const Threads one_thread(1), three(3);
  CostModel costs;
  costs.simplices.working_set = 16;
  const maxmargin::Run alone{Context(one_thread).with_costs(costs)};
  const maxmargin::Run together{Context(three).with_costs(costs)};
  const CrammerSinger options{stop, std::size_t{1} << 22};
  SimplexSolution one = run(made.qp, options, alone);
  const SimplexSolution many = run(made.qp, options, together);
  EXPECT_EQ(one.ended, Ended::converged);
  EXPECT_EQ(one.a, many.a);
  EXPECT_LE(certify(made.qp, one.a, Precision::exact, Threads(1)).certificate.kkt, 1.1e-4);
}

TEST(CrammerSinger, WhereNoStepIsAllowedNoneIsMade) {
  const Made made = made_problem(60, 3, Rbf{2.0}, 3);
  const Threads threads(1);
  const maxmargin::Run alone{threads};
  Stop stop{1e-6, 1e-6};
  stop.iterations = 0;
  const SimplexSolution found = run(made.qp, CrammerSinger{stop, std::size_t{1} << 22}, alone);
  EXPECT_EQ(found.ended, Ended::iteration_limit);
  EXPECT_EQ(found.iterations, 0u);
  EXPECT_EQ(found.a, std::vector<double>(60 * 3, 0.0));
}

TEST(CrammerSinger, WhereThereIsNoTimeNothingIsMade) {
  const Made made = made_problem(60, 3, Rbf{2.0}, 3);
  const Rows rows = *made.x;
  const Threads threads(2);
  Stop stop;
  stop.seconds = 0;
  std::size_t asked = 0;
  const Observer cancels = [&](const Progress&) {
    ++asked;
    return Control::cancel;
  };
  double costs = 0;
  for (const double cost : made.qp.cost) costs += cost;
  const auto expect_nothing = [&](const SimplexSolved& found, Ended ended) {
    EXPECT_EQ(found.solution.ended, ended);
    EXPECT_TRUE(found.solution.a.empty());
    EXPECT_NEAR(found.certified.certificate.primal, costs, 1e-12 * costs);
    EXPECT_GE(found.certified.certificate.primal, costs);
    EXPECT_EQ(found.certified.certificate.dual, 0);
    // As the certificate of that many zeros.
    std::vector<double> zeros(60 * 3, 0.0);
    const SimplexCertified same = certify(made.qp, zeros, Precision::exact, threads);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(found.certified.of_class[k].primal, same.of_class[k].primal, 1e-12 * costs);
    EXPECT_EQ(found.certified.certificate.kkt, same.certificate.kkt);
  };
  for (const Rows* x : {static_cast<const Rows*>(nullptr), &rows}) {
    expect_nothing(solve(made.qp, x, {stop, std::size_t{1} << 22, 1}, threads), Ended::time_limit);
    asked = 0;
    expect_nothing(solve(made.qp, x, {{}, std::size_t{1} << 22, 1}, {threads, cancels}),
                   Ended::cancelled);
    EXPECT_EQ(asked, 1u);
  }
}

TEST(CrammerSinger, WideKernelsAndLargeCostsTakeStepsOfNewtons) {
  Made made = made_problem(150, 5, Rbf{0.05}, 11);
  for (double& cost : made.qp.cost) cost *= 100;
  // Sweeps over single simplices took 3.9 million on data like this.
  Stop stop{1e-3, 1e-4};
  stop.iterations = 200000;
  const ClassesAtOnce how{stop, std::size_t{1} << 24, 1};
  const SimplexSolved one = solve(made.qp, nullptr, how, Threads(1));
  EXPECT_EQ(one.solution.ended, Ended::converged);
  EXPECT_LE(one.certified.certificate.relative_gap, 1e-4);
  const SimplexSolved many = solve(made.qp, nullptr, how, Threads(3));
  EXPECT_EQ(one.solution.a, many.solution.a);
}

}  // namespace
}  // namespace maxmargin::crammer_singer_test
