#include "maxmargin/solver/improve/improve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/improve/rows_in_play.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::improve_test {
namespace {

constexpr std::size_t points = 240;

/// Two classes on either side of a curve in the plane, some of them on the wrong one.
DualQp problem(double curvature = 0) {
  Rng rng(7);
  std::vector<double> x(2 * points), K;
  for (double& value : x) value = rng.uniform(-1, 1);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K.push_back(std::exp(
          -8 * (std::pow(x[2 * i] - x[2 * j], 2) + std::pow(x[2 * i + 1] - x[2 * j + 1], 2))));
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(points, std::move(K));
  qp.A.emplace_back();
  qp.d = {0};
  for (std::size_t i = 0; i < points; ++i) {
    const bool above = x[2 * i + 1] > 0.5 * std::sin(4 * x[2 * i]);
    const double y = above != (rng.uniform() < 0.05) ? 1 : -1;
    qp.block.push_back({y, -1, 0, curvature > 0 ? infinity : 2, curvature});
    qp.row.push_back(static_cast<Index>(i));
    qp.A[0].push_back(y);
  }
  return qp;
}

Improve options(double gap) {
  Improve result;
  result.relative_gap = gap;
  result.first.selection = Selection::pivoted;
  result.first.residual = 0.2;
  result.stop.kkt = 1e-5;
  result.memory_bytes = std::size_t{1} << 30;
  return result;
}

Improved improved(const DualQp& qp, const Improve& how, int threads = 2,
                  const Observer& observer = {}) {
  return improve(qp, how,
                 [](const DualQp& part, const Stop& stop, std::size_t memory) {
                   return choose_solver(part, stop, memory);
                 },
                 {Threads(threads), observer});
}

/// The value at a point of sum_j c_j k(x_j, .), by the double loop.
double value_at(const DualQp& qp, const Improved& result, std::size_t point) {
  const auto& K = dynamic_cast<const DenseQuadratic&>(*qp.K);
  double sum = 0;
  for (std::size_t j = 0; j < result.basis.size(); ++j)
    sum += result.coefficients[j] * K.at(result.basis[j], point);
  return sum;
}

TEST(Improve, TheGapWithTheTrueKernelFallsToWhatWasAskedFor) {
  const DualQp qp = problem();
  const Improved result = improved(qp, options(1e-4));
  EXPECT_EQ(result.limit, ImproveLimit::gap);
  EXPECT_EQ(result.certified.solution.ended, Ended::converged);
  ASSERT_GE(result.rounds.size(), 3u);
  EXPECT_GT(result.rounds.front().relative_gap, 0.01);
  EXPECT_LE(result.rounds.back().relative_gap, 1e-4);
  bool dropped = false;
  for (std::size_t k = 1; k < result.rounds.size(); ++k) {
    const ImproveRound &before = result.rounds[k - 1], &now = result.rounds[k];
    EXPECT_LE(now.relative_gap, before.relative_gap);
    EXPECT_LE(now.primal, before.primal * (1 + 1e-5));
    EXPECT_GE(now.rank, before.rank);
    dropped = dropped || now.rows < points;
  }
  EXPECT_TRUE(dropped);
}

// The two bounds against the certificate that knows the whole kernel matrix and nothing else: its
// dual at the same variables, and the primal of the function that the basis gives.
TEST(Improve, TheBoundsAreThoseOfTheTrueKernel) {
  const DualQp qp = problem();
  const Improved result = improved(qp, options(1e-3));
  const Certified truth = certify(qp, result.certified.solution, Precision::exact, Threads(1));
  double dual = -infinity;
  for (const ImproveRound& round : result.rounds) dual = std::max(dual, round.true_dual);
  EXPECT_EQ(result.true_dual, dual);
  EXPECT_NEAR(result.rounds.back().true_dual, truth.certificate.dual,
              1e-9 * truth.certificate.primal);

  double primal = 0;
  for (std::size_t j = 0; j < result.basis.size(); ++j)
    primal += result.coefficients[j] * value_at(qp, result, result.basis[j]) / 2;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const double f = value_at(qp, result, qp.row[v]) + result.certified.solution.lambda[0];
    primal += qp.block[v].upper * std::max(0.0, 1 - qp.block[v].sign * f);
  }
  EXPECT_NEAR(result.certified.certificate.primal, primal, 1e-9 * primal);

  Smo exact;
  exact.stop.kkt = exact.stop.relative_gap = 1e-8;
  const Certificate best = solve(qp, exact, Threads(1)).certificate;
  EXPECT_LE(result.true_dual, best.primal);
  EXPECT_GE(primal, best.dual);
}

TEST(Improve, EverySolverThatTakesItMayBeUsed) {
  const DualQp qp = problem();
  for (const char* name : {"smo", "interior-point", "primal-dual"}) {
    const Improved result = improve(
        qp, options(1e-3),
        [&](const DualQp& part, const Stop& stop, std::size_t memory) {
          return Choice{named_solver(name, part, stop, memory), "as asked for"};
        },
        Threads(1));
    EXPECT_EQ(result.solver, name);
    EXPECT_EQ(result.limit, ImproveLimit::gap) << name;
  }
}

// Variables without an upper bound are decided at zero only.
TEST(Improve, SquaredLosses) {
  const Improved result = improved(problem(0.25), options(1e-3));
  EXPECT_EQ(result.limit, ImproveLimit::gap);
  EXPECT_LE(result.rounds.back().relative_gap, 1e-3);
}

TEST(Improve, ARankOrTheMemoryIsALimit) {
  const DualQp qp = problem();
  Improve few = options(1e-6);
  few.first.rank = 30;
  Improved result = improved(qp, few);
  EXPECT_EQ(result.limit, ImproveLimit::rank);
  EXPECT_EQ(result.basis.size(), 30u);
  EXPECT_EQ(result.certified.solution.ended, Ended::stalled);
  EXPECT_GT(result.rounds.back().relative_gap, 1e-6);

  Improve little = options(1e-6);
  little.memory_bytes = points * 16 * 25;
  result = improved(qp, little);
  EXPECT_EQ(result.limit, ImproveLimit::memory);
  EXPECT_EQ(result.certified.solution.ended, Ended::stalled);
  for (const ImproveRound& round : result.rounds)
    EXPECT_LE(round.rows * round.rank * 16, little.memory_bytes);
}

TEST(Improve, TimeAndAnObserverEndIt) {
  const DualQp qp = problem();
  Improve none = options(1e-4);
  none.stop.seconds = 0;
  Improved result = improved(qp, none);
  EXPECT_EQ(result.limit, ImproveLimit::time);
  EXPECT_EQ(result.certified.solution.ended, Ended::time_limit);
  EXPECT_EQ(result.certified.solution.a.size(), qp.size());
  result = improved(qp, options(1e-12), 1, [](const Progress&) { return Control::cancel; });
  EXPECT_EQ(result.limit, ImproveLimit::cancelled);
  EXPECT_EQ(result.certified.solution.ended, Ended::cancelled);
  EXPECT_EQ(result.rounds.size(), 1u);
}

TEST(Improve, ThreadsChangeNoBit) {
  const DualQp qp = problem();
  const Improved one = improved(qp, options(1e-3), 1), three = improved(qp, options(1e-3), 3);
  EXPECT_EQ(one.basis, three.basis);
  EXPECT_EQ(one.coefficients, three.coefficients);
  EXPECT_EQ(one.true_dual, three.true_dual);
}

// What is out of play keeps its share in f: the part that is left has the same derivatives as the
// whole problem with K~.
TEST(RowsInPlay, TheRestOfAProblemHasItsDerivatives) {
  const DualQp qp = problem();
  Rng rng(3);
  std::vector<double> a(points);
  for (double& value : a) value = rng.uniform(0, 2);
  Approximate how;
  how.selection = Selection::pivoted;
  how.rank = 20;
  const Approximated whole = approximate(*qp.K, how, Threads(1));
  std::vector<Index> play(whole.basis.begin(), whole.basis.end());
  for (Index p = 0; p < points; p += 3)
    if (std::ranges::count(play, p) == 0) play.push_back(p);
  std::ranges::sort(play);
  std::vector<Index> basis;
  std::vector<double> rest(play.size(), 1.0);
  for (const Index p : whole.basis)
    basis.push_back(static_cast<Index>(std::ranges::find(play, p) - play.begin()));
  const Approximated low = extend(*qp.K->restrict_to(play), {basis, rest}, how, Threads(1));
  EXPECT_EQ(low.basis, basis);
  const Threads alone(1);
  const RowsInPlay rows(qp, play, low, a, alone);

  const std::vector<double> beta = qp.coefficients(a);
  std::vector<double> f(points);
  whole.Z->spread(whole.Z->gather(beta, Threads(1)), f, Threads(1));
  const Projected function = rows.function(a);
  for (std::size_t p = 0; p < points; ++p) EXPECT_NEAR(function.f[p], f[p], 1e-9);

  const DualQp& part = rows.problem();
  const Known start = rows.start(a);
  ASSERT_EQ(part.size(), play.size());
  for (std::size_t k = 0; k < part.size(); ++k)
    EXPECT_NEAR(part.block[k].slope(start.a[k]) + part.block[k].sign * start.f[part.row[k]],
                qp.block[play[k]].slope(a[play[k]]) + qp.block[play[k]].sign * f[play[k]], 1e-9);
  double all = 0, left = part.d[0];
  for (std::size_t v = 0; v < points; ++v) all += qp.A[0][v] * a[v];
  for (std::size_t k = 0; k < part.size(); ++k) left -= part.A[0][k] * start.a[k];
  EXPECT_NEAR(left, -all, 1e-9);
}

}  // namespace
}  // namespace maxmargin::improve_test
