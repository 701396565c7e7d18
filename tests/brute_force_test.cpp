// Tiny problems whose optimum is found by trying every pattern of bounds: the certificate must say
// gap 0 there, and be a true bound everywhere else; every solver must find it.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/certify/certify.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin::brute_force_test {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Solves M z = r by elimination with pivots; nothing where M is singular.
std::optional<std::vector<double>> solve_dense(Matrix M, std::vector<double> r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
    if (std::abs(M[pivot][k]) < 1e-9) return std::nullopt;
    std::swap(M[k], M[pivot]);
    std::swap(r[k], r[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j < n; ++j) M[i][j] -= factor * M[k][j];
      r[i] -= factor * r[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) r[k] -= M[k][j] * r[j];
    r[k] /= M[k][k];
  }
  return r;
}

/// Q with the curvature.
Matrix full_q(const DualQp& qp) {
  const std::size_t n = qp.size();
  std::vector<double> unit(qp.K->size()), column(qp.K->size());
  const Threads one(1);
  Matrix K;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    unit[i] = 1;
    qp.K->multiply(unit, column, Precision::exact, one);
    K.push_back(column);
    unit[i] = 0;
  }
  Matrix Q(n, std::vector<double>(n));
  for (std::size_t v = 0; v < n; ++v)
    for (std::size_t w = 0; w < n; ++w)
      Q[v][w] = qp.block[v].sign * qp.block[w].sign * K[qp.row[v]][qp.row[w]] +
                (v == w ? qp.block[v].curvature : 0);
  return Q;
}

double objective(const DualQp& qp, const Matrix& Q, const std::vector<double>& a) {
  double value = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    value += qp.block[v].linear * a[v];
    for (std::size_t w = 0; w < a.size(); ++w) value += a[v] * Q[v][w] * a[w] / 2;
  }
  return value;
}

/// The stationary point where `fixed[v]` holds a bound for the variables at one, and the others are
/// free; nothing where it is not unique or not feasible.
std::optional<std::vector<double>> stationary(const DualQp& qp, const Matrix& Q,
                                              std::vector<std::optional<double>> fixed) {
  const std::size_t k = qp.A.size();
  std::vector<std::size_t> free;
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (!fixed[v]) free.push_back(v);
  std::vector<double> a(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) a[v] = fixed[v].value_or(0);

  const std::size_t m = free.size();
  if (m > 0) {
    Matrix M(m + k, std::vector<double>(m + k, 0.0));
    std::vector<double> r(m + k);
    for (std::size_t i = 0; i < m; ++i) {
      r[i] = -qp.block[free[i]].linear;
      for (std::size_t v = 0; v < qp.size(); ++v) r[i] -= Q[free[i]][v] * a[v];
      for (std::size_t j = 0; j < m; ++j) M[i][j] = Q[free[i]][free[j]];
      for (std::size_t e = 0; e < k; ++e) M[i][m + e] = M[m + e][i] = qp.A[e][free[i]];
    }
    for (std::size_t e = 0; e < k; ++e) {
      r[m + e] = qp.d[e];
      for (std::size_t v = 0; v < qp.size(); ++v) r[m + e] -= qp.A[e][v] * a[v];
    }
    const auto z = solve_dense(std::move(M), std::move(r));
    if (!z) return std::nullopt;
    for (std::size_t i = 0; i < m; ++i) a[free[i]] = (*z)[i];
  }
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    if (a[v] < block.lower - 1e-10 || a[v] > block.upper + 1e-10) return std::nullopt;
    // A variable within rounding of a bound is at the bound, or it would count as free.
    if (std::abs(a[v] - block.lower) < 1e-12) a[v] = block.lower;
    if (std::abs(a[v] - block.upper) < 1e-12) a[v] = block.upper;
    a[v] = std::clamp(a[v], block.lower, block.upper);
  }
  for (std::size_t e = 0; e < k; ++e) {
    double sum = -qp.d[e];
    for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.A[e][v] * a[v];
    if (std::abs(sum) > 1e-10) return std::nullopt;
  }
  return a;
}

struct BruteForce {
  std::vector<double> best;                 ///< an optimum
  double optimum = infinity;                ///< its objective
  std::vector<std::vector<double>> others;  ///< feasible points met on the way
};

BruteForce enumerate(const DualQp& qp) {
  const Matrix Q = full_q(qp);
  BruteForce result;
  std::size_t patterns = 1;
  for (std::size_t v = 0; v < qp.size(); ++v) patterns *= 3;
  for (std::size_t pattern = 0; pattern < patterns; ++pattern) {
    std::vector<std::optional<double>> fixed(qp.size());
    bool possible = true;
    std::size_t rest = pattern;
    for (std::size_t v = 0; v < qp.size(); ++v, rest /= 3) {
      if (rest % 3 == 1) fixed[v] = qp.block[v].lower;
      if (rest % 3 == 2) fixed[v] = qp.block[v].upper;
      if (fixed[v] && std::isinf(*fixed[v])) possible = false;
    }
    if (!possible) continue;
    const auto a = stationary(qp, Q, std::move(fixed));
    if (!a) continue;
    const double value = objective(qp, Q, *a);
    if (value < result.optimum) {
      result.optimum = value;
      result.best = *a;
    }
    result.others.push_back(*a);
  }
  return result;
}

/// Points with a Gram matrix of small fractions, which float and double hold exactly.
std::shared_ptr<const DenseQuadratic> random_gram(std::size_t points, Rng& rng) {
  const std::size_t dimensions = 1 + rng.below(4);
  Matrix x(points, std::vector<double>(dimensions));
  for (auto& row : x)
    for (double& value : row) value = static_cast<double>(rng.below(17)) / 8 - 1;
  std::vector<double> values;
  for (const auto& left : x)
    for (const auto& right : x) {
      double sum = 0;
      for (std::size_t d = 0; d < dimensions; ++d) sum += left[d] * right[d];
      values.push_back(sum);
    }
  return std::make_shared<DenseQuadratic>(points, std::move(values));
}

enum class Loss {
  hinge,
  squared_hinge,
  tube,
  squared_tube,
  huber,
  pinball,
  squares,
  one_class,
  nu_margin,
  nu_tube
};
constexpr Loss all_losses[] = {
    Loss::hinge,   Loss::squared_hinge, Loss::tube,      Loss::squared_tube, Loss::huber,
    Loss::pinball, Loss::squares,       Loss::one_class, Loss::nu_margin,    Loss::nu_tube};

std::vector<Block> blocks_of(Loss loss, double y, double cost) {
  const double label = y > 0 ? 1 : -1;
  switch (loss) {
    case Loss::hinge:
      return {{label, -1, 0, cost, 0}};
    case Loss::squared_hinge:
      return {{label, -1, 0, infinity, 1 / (2 * cost)}};
    case Loss::tube:
      return {{1, 0.25 - y, 0, cost, 0}, {-1, 0.25 + y, 0, 1.5 * cost, 0}};
    case Loss::squared_tube:
      return {{1, 0.25 - y, 0, infinity, 1 / (2 * cost)},
              {-1, 0.25 + y, 0, infinity, 1 / (2 * cost)}};
    case Loss::huber:
      return {{1, -y, -cost, cost, 0.5 / cost}};
    case Loss::pinball:
      return {{1, -y, -0.75 * cost, 0.25 * cost, 0}};
    case Loss::squares:
      return {{1, -y, -infinity, infinity, 1 / cost}};
    case Loss::one_class:
      return {{1, 0, 0, cost, 0}};
    case Loss::nu_margin:
      return {{label, 0, 0, cost, 0}};
    case Loss::nu_tube:
      return {{1, -y, 0, cost, 0}, {-1, y, 0, cost, 0}};
  }
  return {};
}

/// A row for each sign, with the sum that a random nu gives it.
void split_equality(DualQp& qp, Loss loss, Rng& rng) {
  double room[2] = {0, 0};
  for (const Block& block : qp.block) room[block.sign > 0] += block.upper;
  const double most = loss == Loss::nu_margin ? std::min(room[0], room[1]) : room[0] / 2;
  // Sometimes all that there is room for.
  const double half = most * static_cast<double>(1 + rng.below(4)) / 4;
  qp.A.assign(2, std::vector<double>(qp.size(), 0.0));
  for (std::size_t v = 0; v < qp.size(); ++v)
    qp.A[qp.block[v].sign > 0 ? 0 : 1][v] = qp.block[v].sign;
  qp.d = {half, -half};
}

/// The first row holds the signs, as that of the bias; further ones any numbers. The nu losses have
/// a row for each sign instead.
DualQp random_problem(Loss loss, Rng& rng, std::size_t rows) {
  DualQp qp;
  const bool has_nu = loss == Loss::nu_margin || loss == Loss::nu_tube;
  if (has_nu) rows = 1;
  const bool two_blocks = loss == Loss::tube || loss == Loss::squared_tube || loss == Loss::nu_tube;
  const std::size_t points = std::max(rows + 1, 2 + rng.below(two_blocks ? 2 : 4));
  qp.K = random_gram(points, rng);
  qp.A.resize(rows);
  qp.d.assign(rows, 0.0);
  double total = 0;
  for (std::size_t i = 0; i < points; ++i) {
    // Both signs among the first two, so that the hinge has a feasible point besides 0.
    const double size = static_cast<double>(1 + rng.below(8)) / 4;
    const double y = i % 2 == 0 ? size : -size;
    const double cost = static_cast<double>(1 + rng.below(12)) / 4;
    total += cost;
    std::vector<double> entries(rows, 1.0);
    for (std::size_t r = 1; r < rows; ++r) entries[r] = rng.normal();
    for (const Block& block : blocks_of(loss, y, cost)) {
      qp.block.push_back(block);
      qp.row.push_back(static_cast<Index>(i));
      for (std::size_t r = 0; r < rows; ++r) qp.A[r].push_back(block.sign * entries[r]);
    }
  }
  if (rows == 1) qp.d = {loss == Loss::one_class ? total * 0.4 : 0};
  if (rows > 1)
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const double a =
          rng.uniform(std::max(qp.block[v].lower, -1.0), std::min(qp.block[v].upper, 1.0));
      for (std::size_t r = 0; r < rows; ++r) qp.d[r] += qp.A[r][v] * a;
    }
  if (has_nu) split_equality(qp, loss, rng);
  return qp;
}

/// The primal objective for given multipliers, by its definition.
double primal_at(const DualQp& qp, const std::vector<double>& a,
                 const std::vector<double>& lambda) {
  Matrix Q = full_q(qp);
  double value = 0;
  for (std::size_t r = 0; r < lambda.size(); ++r) value += lambda[r] * qp.d[r];
  for (std::size_t v = 0; v < a.size(); ++v) {
    Q[v][v] -= qp.block[v].curvature;
    double h = 0;
    for (std::size_t r = 0; r < lambda.size(); ++r) h += lambda[r] * qp.A[r][v];
    for (std::size_t w = 0; w < a.size(); ++w) {
      h += Q[v][w] * a[w];
      value += a[v] * Q[v][w] * a[w] / 2;
    }
    value += qp.block[v].conjugate(-h);
  }
  return value;
}

class BruteForceProblems : public testing::TestWithParam<Loss> {
 protected:
  static constexpr int problems = 40;
  static std::size_t rows_of(int problem) { return static_cast<std::size_t>(problem) % 4; }
  Rng rng{static_cast<std::uint64_t>(GetParam()) + 100};
  Threads threads{1};

  Certified certified(const DualQp& qp, const std::vector<double>& a) const {
    Solution solution;
    solution.a = a;
    solution.lambda.assign(qp.A.size(), 0.0);
    return certify(qp, std::move(solution), Precision::exact, threads);
  }
};

TEST_P(BruteForceProblems, GapIsZeroAtTheOptimum) {
  for (int n = 0; n < problems; ++n) {
    const DualQp qp = random_problem(GetParam(), rng, rows_of(n));
    const BruteForce truth = enumerate(qp);
    ASSERT_LT(truth.optimum, infinity);
    const Certificate certificate = certified(qp, truth.best).certificate;
    const double scale = 1 + std::abs(truth.optimum);
    EXPECT_NEAR(certificate.gap, 0, 1e-8 * scale) << "problem " << n;
    EXPECT_NEAR(certificate.primal, -truth.optimum, 1e-8 * scale) << "problem " << n;
    EXPECT_NEAR(certificate.dual, -truth.optimum, 1e-8 * scale) << "problem " << n;
    EXPECT_LE(certificate.kkt, 1e-8 * scale) << "problem " << n;
    EXPECT_LE(certificate.equality_residual, 1e-9);
    EXPECT_LE(certificate.bound_residual, 0);
  }
}

TEST_P(BruteForceProblems, CertificateIsABoundAtEveryFeasiblePoint) {
  for (int n = 0; n < problems; ++n) {
    const DualQp qp = random_problem(GetParam(), rng, rows_of(n));
    const BruteForce truth = enumerate(qp);
    const double tiny = 1e-9 * (1 + std::abs(truth.optimum));
    for (const auto& corner : truth.others) {
      std::vector<double> a = truth.best;
      const double step = rng.uniform();
      for (std::size_t v = 0; v < a.size(); ++v) a[v] += step * (corner[v] - a[v]);
      const Certificate certificate = certified(qp, a).certificate;
      EXPECT_GE(certificate.gap, -tiny);
      EXPECT_GE(certificate.primal, -truth.optimum - tiny);
      EXPECT_LE(certificate.dual, -truth.optimum + tiny);
      if (std::isfinite(certificate.primal)) {
        EXPECT_NEAR(certificate.gap, certificate.primal - certificate.dual,
                    1e-9 * (1 + std::abs(certificate.primal)));
      }
    }
  }
}

TEST_P(BruteForceProblems, NoOtherMultipliersMakeThePrimalSmaller) {
  for (int n = 0; n < problems; ++n) {
    const DualQp qp = random_problem(GetParam(), rng, rows_of(n));
    for (const auto& a : enumerate(qp).others) {
      const Certified result = certified(qp, a);
      const std::vector<double>& lambda = result.solution.lambda;
      const double chosen = primal_at(qp, a, lambda);
      EXPECT_NEAR(chosen, result.certificate.primal, 1e-9 * (1 + std::abs(chosen)));
      for (const double step : {1e-6, 1e-3, 0.1, 1.0, 10.0})
        for (const double side : {-1.0, 1.0}) {
          std::vector<double> other = lambda;
          for (std::size_t r = 0; r < other.size(); ++r)
            other[r] += side * step * (r == 0 ? 1 : rng.normal());
          EXPECT_GE(primal_at(qp, a, other), chosen - 1e-9 * (1 + std::abs(chosen)));
        }
    }
  }
}

TEST_P(BruteForceProblems, EverySolverFindsTheOptimum) {
  int solved = 0;
  for_each_component<Solver>([&](auto solver) {
    if constexpr (requires { solver.is_no_optimum; }) return;
    solver.stop.kkt = 1e-8;
    solver.stop.relative_gap = 1e-9;
    solver.stop.iterations = 1000000;
    SCOPED_TRACE(std::string(solver.name));
    for (int n = 0; n < problems; ++n) {
      const DualQp qp = random_problem(GetParam(), rng, rows_of(n));
      if (refuses(qp, solver)) continue;
      ++solved;
      const double optimum = -enumerate(qp).optimum;
      const Certified result = solve(qp, solver, threads);
      // A gap relative to an optimum of 0 has no meaning.
      if (std::abs(optimum) > 1e-9) {
        EXPECT_EQ(result.solution.ended, Ended::converged)
            << "problem " << n << ", kkt " << result.certificate.kkt << ", relative gap "
            << result.certificate.relative_gap;
      }
      EXPECT_NEAR(result.certificate.dual, optimum, 1e-8 * (1 + std::abs(optimum)))
          << "problem " << n;
      EXPECT_NEAR(result.certificate.primal, optimum, 1e-8 * (1 + std::abs(optimum)))
          << "problem " << n;
    }
  });
  EXPECT_GT(solved, 0);
}

std::string loss_name(const testing::TestParamInfo<Loss>& instance) {
  constexpr const char* names[] = {"hinge",     "squared_hinge", "tube",    "squared_tube",
                                   "huber",     "pinball",       "squares", "one_class",
                                   "nu_margin", "nu_tube"};
  return names[static_cast<int>(instance.param)];
}

INSTANTIATE_TEST_SUITE_P(Losses, BruteForceProblems, testing::ValuesIn(all_losses), loss_name);

}  // namespace
}  // namespace maxmargin::brute_force_test
