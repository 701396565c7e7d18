#include "maxmargin/solver/interior_point/interior_point.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/equations/active_set.hpp"
#include "maxmargin/solver/interior_point/path.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"
#include "tests/kkt_violation.hpp"

namespace maxmargin::interior_point_test {
namespace {

/// Gaussian kernel values of random points in the plane.
std::shared_ptr<const DenseQuadratic> gaussian(std::size_t points, Rng& rng) {
  std::vector<double> x(2 * points), K;
  for (double& value : x) value = rng.uniform(-1, 1);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K.push_back(
          std::exp(-std::pow(x[2 * i] - x[2 * j], 2) - std::pow(x[2 * i + 1] - x[2 * j + 1], 2)));
  return std::make_shared<DenseQuadratic>(points, std::move(K));
}

DualQp classification(std::size_t points, double cost, std::uint64_t seed) {
  Rng rng(seed);
  DualQp qp;
  qp.K = gaussian(points, rng);
  qp.A.emplace_back();
  qp.d = {0};
  for (std::size_t i = 0; i < points; ++i) {
    const double y = rng.uniform() < 0.5 ? 1 : -1;
    qp.block.push_back({y, -1, 0, cost, 0});
    qp.row.push_back(static_cast<Index>(i));
    qp.A[0].push_back(y);
  }
  return qp;
}

InteriorPoint precise() {
  InteriorPoint options;
  options.stop.kkt = 1e-9;
  options.stop.relative_gap = 1e-12;
  return options;
}

const Threads& crew() {
  static const Threads two(2);
  return two;
}

Solution solved(const DualQp& qp, const InteriorPoint& options = precise()) {
  return run(qp, options, {crew()});
}

TEST(InteriorPoint, ReachesTwelveDigitsInTensOfIterations) {
  for (const double cost : {0.01, 1.0, 100.0, 1e5}) {
    const DualQp qp = classification(300, cost, 4);
    InteriorPoint options = precise();
    // Sums of 300 coefficients of this size are rounded.
    options.stop.kkt = 1e-11 * std::max(1.0, cost);
    if (cost > 1000) options.stop.relative_gap = 1e-10;
    const Solution solution = solved(qp, options);
    EXPECT_EQ(solution.ended, Ended::converged) << cost;
    EXPECT_LE(solution.iterations, 40u) << cost;
    EXPECT_LE(kkt_violation(qp, solution), options.stop.kkt) << cost;
  }
}

TEST(InteriorPoint, TakesAnyNumberOfRows) {
  for (const std::size_t rows : {0u, 2u, 3u, 5u}) {
    DualQp qp = classification(120, 2, 8);
    Rng rng(3);
    std::vector<double> within(qp.size());
    for (double& value : within) value = rng.uniform(0.4, 1.6);
    qp.A.clear();
    qp.d.clear();
    for (std::size_t r = 0; r < rows; ++r) {
      // Powers of the row's number; d such that a point within the bounds fulfils them.
      qp.A.emplace_back();
      qp.d.push_back(0);
      for (std::size_t v = 0; v < qp.size(); ++v) {
        qp.A[r].push_back(qp.block[v].sign *
                          std::pow(static_cast<double>(v) / 120, static_cast<double>(r)));
        qp.d[r] += qp.A[r][v] * within[v];
      }
    }
    const Solution solution = solved(qp);
    EXPECT_EQ(solution.ended, Ended::converged) << rows;
    EXPECT_EQ(solution.lambda.size(), rows);
    EXPECT_LE(kkt_violation(qp, solution), 1e-8) << rows;
  }
}

// nu-SVC: sum y a = 0 and sum a = total.
TEST(InteriorPoint, TakesTwoRowsThatOverlapAndOnesThatAreRepeated) {
  DualQp qp = classification(150, 1, 9);
  for (Block& block : qp.block) block.linear = 0;
  qp.A.emplace_back(qp.size(), 1.0);
  qp.d.push_back(120);
  EXPECT_LE(kkt_violation(qp, solved(qp)), 1e-9);
  qp.A.push_back(qp.A[1]);
  qp.d.push_back(qp.d[1]);
  const Solution repeated = solved(qp);
  EXPECT_EQ(repeated.ended, Ended::converged);
  EXPECT_LE(kkt_violation(qp, repeated), 1e-9);
}

DualQp regression(std::size_t points, double epsilon, double curvature, std::uint64_t seed) {
  Rng rng(seed);
  DualQp qp;
  qp.K = gaussian(points, rng);
  qp.A.emplace_back();
  qp.d = {0};
  for (std::size_t i = 0; i < points; ++i) {
    const double y = rng.uniform(-1, 1);
    for (const double sign : {1.0, -1.0}) {
      qp.block.push_back({sign, epsilon - sign * y, 0, curvature > 0 ? infinity : 3, curvature});
      qp.row.push_back(static_cast<Index>(i));
      qp.A[0].push_back(sign);
    }
  }
  return qp;
}

// The reduction to one unknown a point against the same problem with a point for each variable.
TEST(InteriorPoint, VariablesThatShareAPointAreAsIfTheyHadOneEach) {
  for (const double curvature : {0.0, 0.25}) {
    const DualQp shared = regression(60, 0.1, curvature, 5);
    DualQp apart = shared;
    const auto& K = dynamic_cast<const DenseQuadratic&>(*shared.K);
    std::vector<double> values;
    for (std::size_t v = 0; v < shared.size(); ++v)
      for (std::size_t w = 0; w < shared.size(); ++w)
        values.push_back(K.at(shared.row[v], shared.row[w]));
    apart.K = std::make_shared<DenseQuadratic>(shared.size(), values);
    for (std::size_t v = 0; v < shared.size(); ++v) apart.row[v] = static_cast<Index>(v);
    const Solution x = solved(shared), y = solved(apart);
    EXPECT_EQ(x.ended, Ended::converged);
    EXPECT_LE(kkt_violation(shared, x), 1e-9);
    for (std::size_t v = 0; v < shared.size(); ++v) EXPECT_NEAR(x.a[v], y.a[v], 1e-6);
    EXPECT_NEAR(x.lambda[0], y.lambda[0], 1e-7);
  }
}

TEST(InteriorPoint, RemovalChangesTheTimeNotTheAnswer) {
  const DualQp qp = classification(200, 5, 6);
  InteriorPoint plain = precise();
  plain.removal = false;
  const Solution x = solved(qp), y = solved(qp, plain);
  for (std::size_t v = 0; v < qp.size(); ++v) EXPECT_NEAR(x.a[v], y.a[v], 1e-8);
}

// Variables that are fixed far too early come back, and the optimum is the same.
TEST(InteriorPoint, AWrongRemovalIsUndone) {
  std::size_t removed = 0, back = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const DualQp qp = classification(120, 50, seed);
    const auto K = make_dense_points(*qp.K, crew(), {});
    ReducedKkt kkt(qp, *K);
    Path path(qp, *K, kkt, 3);
    for (int step = 0; step < 40 && path.rest().gap > 1e-12; ++step) {
      ASSERT_EQ(path.step({}), Factor::Outcome::done);
      back += path.remove_decided();
      removed = std::max(removed, qp.size() - path.active());
    }
    ActiveSet active_set(qp, *K, kkt);
    const Polished end = active_set.polish(path.a(), path.lambda(), path.sides(), 8, {});
    Solution solution;
    solution.a = end.a;
    solution.lambda = end.evaluation.lambda;
    EXPECT_LE(kkt_violation(qp, solution), 1e-8) << seed;
  }
  EXPECT_GT(removed, 0u);
  EXPECT_GT(back, 0u);
}

// At the optimum of a smooth cost each variable is minus the derivative of its cost at y f.
TEST(InteriorPoint, TakesLogisticAndExponentialCosts) {
  for (const Entropy entropy : {Entropy::logistic, Entropy::exponential}) {
    for (const double cost : {0.1, 10.0}) {
      DualQp qp = classification(80, cost, 7);
      for (Block& block : qp.block) {
        block.linear = 0;
        block.entropy = entropy;
        block.scale = cost;
        if (entropy == Entropy::exponential) block.upper = infinity;
      }
      const Solution solution = solved(qp);
      EXPECT_EQ(solution.ended, Ended::converged) << cost;
      EXPECT_LE(kkt_violation(qp, solution), 1e-9) << cost;
      const auto& K = dynamic_cast<const DenseQuadratic&>(*qp.K);
      for (std::size_t v = 0; v < qp.size(); ++v) {
        double f = solution.lambda[0];
        for (std::size_t w = 0; w < qp.size(); ++w)
          f += qp.block[w].sign * solution.a[w] * K.at(v, w);
        const double rise = std::exp(-qp.block[v].sign * f);
        const double expected =
            entropy == Entropy::logistic ? cost * rise / (1 + rise) : cost * rise;
        EXPECT_NEAR(solution.a[v], expected, 1e-8 * cost);
      }
    }
  }
}

TEST(InteriorPoint, TakesFixedVariablesAndBoundsOnOneSideOrNone) {
  DualQp qp = classification(60, 1, 2);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    Block& block = qp.block[v];
    if (v % 4 == 0) block.lower = block.upper = 0.25;
    if (v % 4 == 1) block.upper = infinity, block.curvature = 0.1;
    if (v % 4 == 2) block.lower = -infinity, block.upper = infinity, block.curvature = 0.2;
  }
  const Solution solution = solved(qp);
  EXPECT_EQ(solution.ended, Ended::converged);
  EXPECT_LE(kkt_violation(qp, solution), 1e-9);
  for (std::size_t v = 0; v < qp.size(); v += 4) EXPECT_EQ(solution.a[v], 0.25);
}

TEST(InteriorPoint, TakesASingularMatrixAndEqualPoints) {
  DualQp qp = classification(40, 1, 2);
  qp.K = std::make_shared<DenseQuadratic>(40, std::vector<double>(1600, 1.0));
  const Solution solution = solved(qp);
  EXPECT_EQ(solution.ended, Ended::converged);
  EXPECT_LE(kkt_violation(qp, solution), 1e-9);
}

/// A problem whose K is Z Z', and the same with that matrix written out.
struct Twins {
  DualQp low_rank, full;
};
Twins twins(DualQp qp, std::size_t rank, std::uint64_t seed) {
  Rng rng(seed);
  const std::size_t points = qp.K->size();
  auto Z = std::make_shared<LowRank>(points, rank);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < rank; ++j) Z->row(i)[j] = rng.uniform(-1, 1);
  std::vector<double> K(points * points, 0.0);
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      for (std::size_t k = 0; k < rank; ++k) K[i * points + j] += Z->row(i)[k] * Z->row(j)[k];
  Twins result{qp, qp};
  result.low_rank.K = make_low_rank_quadratic(Z);
  result.full.K = std::make_shared<DenseQuadratic>(points, std::move(K));
  return result;
}

// Sherman, Morrison and Woodbury against the matrix written out.
TEST(InteriorPoint, ALowRankMatrixGivesTheSameOptimum) {
  for (const double cost : {0.1, 10.0, 1000.0}) {
    const Twins qp = twins(classification(400, cost, 3), 5, 8);
    InteriorPoint options = precise();
    options.stop.kkt = 1e-9 * std::max(1.0, cost);
    const Solution low_rank = solved(qp.low_rank, options);
    EXPECT_EQ(low_rank.ended, Ended::converged) << cost;
    EXPECT_LE(low_rank.iterations, 40u) << cost;
    EXPECT_LE(kkt_violation(qp.full, low_rank), options.stop.kkt) << cost;
  }
  const Twins tube = twins(regression(300, 0.1, 0, 5), 4, 9);
  const Solution low_rank = solved(tube.low_rank);
  EXPECT_EQ(low_rank.ended, Ended::converged);
  EXPECT_LE(kkt_violation(tube.full, low_rank), 1e-9);
}

// All variables at their upper bounds: no point lies strictly inside.
TEST(InteriorPoint, TakesRowsThatLeaveOnlyTheEdge) {
  DualQp qp = classification(50, 1, 2);
  for (std::size_t v = 0; v < qp.size(); ++v) {
    qp.block[v].linear = 0;
    qp.A[0][v] = 1;
  }
  qp.d = {50};
  const Solution solution = solved(qp);
  for (const double value : solution.a) EXPECT_NEAR(value, 1, 1e-9);
}

TEST(InteriorPoint, EndsHonestlyWhereThereIsNoMargin) {
  // Equal points of both classes.
  DualQp qp;
  qp.K = std::make_shared<DenseQuadratic>(2, std::vector<double>{1, 1, 1, 1});
  qp.row = {0, 1};
  qp.block = {{1, -1, 0, infinity, 0}, {-1, -1, 0, infinity, 0}};
  qp.A = {{1, -1}};
  qp.d = {0};
  EXPECT_EQ(solved(qp).ended, Ended::unbounded);
}

// The rows ask for as much of the variables whatever the kernel values are; the start has to know.
TEST(InteriorPoint, TheSizeOfTheKernelValuesDoesNotMatter) {
  constexpr std::size_t points = 40;
  double first = 0, width = 0;
  for (const double size : {1.0, 1e4, 1e8, 1e-8}) {
    Rng rng(7);
    const auto K = gaussian(points, rng);
    std::vector<double> scaled;
    for (std::size_t i = 0; i < points; ++i)
      for (std::size_t j = 0; j < points; ++j) scaled.push_back(size * K->at(i, j));
    DualQp qp;  // nu-SVC, nu = 0.8
    qp.K = std::make_shared<DenseQuadratic>(points, std::move(scaled));
    qp.A.assign(2, std::vector<double>(points, 0.0));
    qp.d = {16, -16};
    for (std::size_t i = 0; i < points; ++i) {
      const double y = i % 2 == 0 ? 1 : -1;
      qp.block.push_back({y, 0, 0, 1, 0});
      qp.row.push_back(static_cast<Index>(i));
      qp.A[i % 2][i] = y;
    }
    InteriorPoint options = precise();
    options.stop.kkt *= size;
    // 40 products are added up, (n + 4) u of (sum |a| s)^2, which is a thousand times the optimum:
    // sums of doubles cannot be proved to be nearer than 1.3e-11 of it.
    options.stop.relative_gap = 2e-11;
    const Certified found = solve(qp, options, Threads(1));
    EXPECT_EQ(found.solution.ended, Ended::converged) << size;
    if (first == 0) {
      first = found.certificate.dual;
      width = found.certificate.relative_gap;
    }
    EXPECT_NEAR(found.certificate.relative_gap, width, 0.01 * width) << size;
    EXPECT_NEAR(found.certificate.dual, size * first, 1e-9 * size * std::abs(first)) << size;
  }
}

TEST(InteriorPoint, KeepsToLimitsWithAFeasiblePoint) {
  const DualQp qp = classification(200, 1, 2);
  InteriorPoint options = precise();
  options.stop.iterations = 3;
  const Solution early = solved(qp, options);
  EXPECT_EQ(early.ended, Ended::iteration_limit);
  EXPECT_EQ(early.iterations, 3u);
  double sum = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    sum += qp.A[0][v] * early.a[v];
    EXPECT_GE(early.a[v], 0);
    EXPECT_LE(early.a[v], 1);
  }
  EXPECT_NEAR(sum, 0, 1e-12);
  options.stop.iterations = 1000;
  options.stop.seconds = 0;
  EXPECT_EQ(solved(qp, options).ended, Ended::time_limit);
}

TEST(InteriorPoint, StartsFromAnAnswer) {
  const DualQp qp = classification(200, 1, 2);
  const Solution cold = solved(qp);
  const Solution warm = run(qp, precise(), {crew(), cold.a, Precision::exact});
  EXPECT_EQ(warm.ended, Ended::converged);
  EXPECT_EQ(warm.iterations, 0u);
}

TEST(RestoreEquality, MovesOnlyAsFarAsNeeded) {
  const DualQp qp = classification(20, 1, 2);
  std::vector<double> a(20, 0.5);
  a[0] = 0;
  restore_equality(qp, a);
  for (const double rest : residual_of(qp, a)) EXPECT_NEAR(rest, 0, 1e-14);
  for (const double value : a) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
  }
}

}  // namespace
}  // namespace maxmargin::interior_point_test
