#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/certify/certify.hpp"
#include "maxmargin/certify/expansion.hpp"
#include "maxmargin/certify/simplex.hpp"
#include "maxmargin/solver/crammer_singer/crammer_singer.hpp"
#include "maxmargin/solver/linear_program/linear_program.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_quadratic.hpp"

// A point that violates its equality rows may have a dual above the optimum, unless it is charged
// for that. Whatever point is judged, the optimum has to lie between its bounds.

namespace maxmargin::infeasible_test {
namespace {

constexpr std::size_t points = 14;

std::shared_ptr<const Quadratic> gaussian(std::uint64_t seed, Definite definite = Definite::yes) {
  class Declared : public DenseQuadratic {
   public:
    Declared(std::vector<double> values, Definite definite)
        : DenseQuadratic(points, std::move(values)), definite_(definite) {}
    MatrixTraits traits() const override {
      MatrixTraits traits = DenseQuadratic::traits();
      traits.definite = definite_;
      return traits;
    }

   private:
    Definite definite_;
  };
  Rng rng(seed);
  std::vector<double> x(2 * points), K(points * points);
  for (double& each : x) each = rng.normal();
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = 0; j < points; ++j)
      K[i * points + j] = 2 * std::exp(-0.7 * (std::pow(x[2 * i] - x[2 * j], 2) +
                                               std::pow(x[2 * i + 1] - x[2 * j + 1], 2)));
  return std::make_shared<Declared>(std::move(K), definite);
}

/// Two classes with a bias; with `rows` 2, one more row that no other implies.
DualQp two_classes(std::uint64_t seed, std::size_t rows) {
  Rng rng(seed + 100);
  DualQp qp;
  qp.K = gaussian(seed);
  qp.A.assign(rows, {});
  qp.d.assign(rows, 0);
  for (std::size_t v = 0; v < points; ++v) {
    const double sign = v % 2 == 0 ? 1 : -1;
    qp.row.push_back(static_cast<Index>(v));
    qp.block.push_back({sign, -1, 0, rng.uniform(0.5, 3), 0});
    qp.A[0].push_back(sign);
    if (rows > 1) qp.A[1].push_back(sign * rng.normal());
  }
  return qp;
}

double residual_of(const DualQp& qp, std::span<const double> a) {
  double worst = 0;
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    long double sum = -static_cast<long double>(qp.d[r]);
    for (std::size_t v = 0; v < qp.size(); ++v) sum += static_cast<long double>(qp.A[r][v]) * a[v];
    worst = std::max(worst, static_cast<double>(std::abs(sum)));
  }
  return worst;
}

/// `a` somewhere near, within the bounds, mostly where the dual grows.
std::vector<double> moved(const DualQp& qp, std::vector<double> a, Rng& rng) {
  const double size = std::pow(10, rng.uniform(-9, 0));
  for (std::size_t v = 0; v < a.size(); ++v)
    if (rng.uniform(0, 1) < 0.4)
      a[v] = std::clamp(a[v] + size * rng.uniform(-0.3, 1), qp.block[v].lower, qp.block[v].upper);
  return a;
}

TEST(Infeasible, TheOptimumIsBetweenTheBoundsOfAnyPoint) {
  for (const std::size_t rows : {1u, 2u})
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const DualQp qp = two_classes(seed, rows);
      const Certified best = solve(qp, InteriorPoint{.stop = {1e-9, 1e-9}}, Threads(1));
      ASSERT_EQ(best.solution.ended, Ended::converged);
      Rng rng(seed);
      std::size_t charged = 0;
      for (int trial = 0; trial < 200; ++trial) {
        Solution other = best.solution;
        other.a = moved(qp, std::move(other.a), rng);
        const double off = residual_of(qp, other.a);
        const Certificate c =
            certify(qp, std::move(other), Precision::exact, Threads(1)).certificate;
        EXPECT_LE(c.dual, best.certificate.primal) << "rows " << rows << ", seed " << seed;
        EXPECT_GE(c.primal, best.certificate.dual) << "rows " << rows << ", seed " << seed;
        EXPECT_NEAR(c.equality_residual, off, 1e-15 * points);
        charged += std::isfinite(c.dual);
      }
      EXPECT_GT(charged, 100u);  // for most of them there is a bound
    }
}

TEST(Infeasible, ForClassesAtOnce) {
  constexpr std::size_t classes = 3;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SimplexQp qp;
    qp.K = gaussian(seed);
    qp.classes = classes;
    Rng rng(seed);
    for (std::size_t i = 0; i < points; ++i) {
      qp.row.push_back(static_cast<Index>(i));
      qp.label.push_back(static_cast<Index>(i % classes));
      qp.cost.push_back(rng.uniform(0.5, 3));
    }
    const SimplexSolved best =
        solve(qp, nullptr, {{1e-9, 1e-9}, std::size_t{1} << 24, 0}, Threads(1));
    const Certificate& optimum = best.certified.certificate;
    std::size_t charged = 0;
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<double> a = best.solution.a;
      const double size = std::pow(10, rng.uniform(-9, 0));
      double off = 0;
      for (std::size_t i = 0; i < points; ++i) {
        long double sum = 0;
        for (std::size_t k = 0; k < classes; ++k) {
          double& each = a[i * classes + k];
          if (rng.uniform(0, 1) < 0.3)
            each = std::min(qp.upper(i, k), each + size * rng.uniform(-1, 0.5));
          sum += each;
        }
        off = std::max(off, static_cast<double>(std::abs(sum)));
      }
      const Certificate c = certify(qp, a, Precision::exact, Threads(1)).certificate;
      EXPECT_LE(c.dual, optimum.primal) << seed;
      EXPECT_GE(c.primal, optimum.dual) << seed;
      EXPECT_NEAR(c.equality_residual, off, 1e-15 * points);
      charged += std::isfinite(c.dual);
    }
    EXPECT_GT(charged, 50u);
  }
}

/// The terms of the primal and of the dual of problem 10.1, as they stand there.
struct Programme {
  double primal = 0, dual = 0, violation = 0, correlation = 0;
};

Programme programme(const DualQp& qp, const ExpansionPoint& at) {
  Programme result;
  std::vector<double> f(points, 0.0), correlation(points, 0.0);
  const auto& K = dynamic_cast<const DenseQuadratic&>(*qp.K);
  for (std::size_t p = 0; p < points; ++p) {
    result.primal += std::abs(at.beta[p]);
    for (std::size_t j = 0; j < points; ++j) {
      f[p] += K.at(p, j) * at.beta[j];
      correlation[p] += K.at(p, j) * qp.block[j].sign * at.a[j];
    }
    result.correlation = std::max(result.correlation, std::abs(correlation[p]));
  }
  for (std::size_t v = 0; v < points; ++v) {
    const double C = qp.block[v].upper, margin = qp.block[v].sign * (f[v] + at.lambda[0]);
    const double loss = std::max(0.0, 1 - margin);
    result.primal += C * loss;
    result.dual += at.a[v];
    result.violation = std::max(result.violation, (C * loss - at.a[v] * (1 - margin)) / C);
  }
  return result;
}

TEST(Infeasible, ForTheLinearProgramme) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const DualQp qp = two_classes(seed, 1);
    const ExpansionCertified best = solve(qp, LinearProgram{{1e-8, 1e-8}}, Threads(1)).certified;
    const Certificate& optimum = best.certificate;
    Rng rng(seed);
    std::size_t charged = 0;
    for (int trial = 0; trial < 200; ++trial) {
      ExpansionPoint other = best.expansion;
      other.a = moved(qp, std::move(other.a), rng);
      for (double& each : other.beta) each += 0.1 * rng.normal() * rng.uniform(0, 1);
      other.lambda[0] += 0.1 * rng.normal();
      const ExpansionCertified found = certify(qp, other, Threads(1));
      const Certificate& c = found.certificate;
      EXPECT_LE(c.dual, optimum.primal) << seed;
      EXPECT_GE(c.primal, optimum.dual) << seed;
      EXPECT_NEAR(c.equality_residual, residual_of(qp, found.expansion.a), 1e-15 * points);
      const Programme naive = programme(qp, found.expansion);
      EXPECT_NEAR(c.primal, naive.primal, 1e-12 * naive.primal);
      EXPECT_NEAR(c.kkt, naive.violation, 1e-12);
      EXPECT_LE(naive.correlation, 1 + 1e-12);
      // What moves onto the row costs no more than it and the correlations it may break.
      if (std::isfinite(c.dual)) {
        EXPECT_GE(c.dual, naive.dual - 5 * points * (naive.dual + 1) * c.equality_residual - 1e-9);
      }
      charged += std::isfinite(c.dual);
    }
    EXPECT_GT(charged, 100u);
  }
}

TEST(Infeasible, AVariableMovesToWhereTheRowIsKept) {
  DualQp qp = two_classes(1, 1);
  for (std::size_t v = 0; v < points; ++v) {
    // One against all others, which can only grow while it can only fall. So small that no
    // correlation is above 1.
    for (std::size_t u = 0; u < points; ++u) {
      qp.block[u].sign = qp.A[0][u] = u == v ? 1 : -1;
      qp.block[u].upper = 0.4;
    }
    ExpansionPoint one{std::vector<double>(points, 0.0), {0.0}, std::vector<double>(points, 0.0)};
    one.a[v] = 0.9 * qp.block[v].upper;
    EXPECT_TRUE(std::isfinite(certify(qp, one, Threads(1)).certificate.dual)) << v;
  }
}

TEST(Infeasible, OfAMatrixThatMayBeIndefiniteMoreIsNotClaimed) {
  DualQp qp = two_classes(1, 1);
  const ExpansionPoint zero{
      std::vector<double>(points, 0.0), {0.0}, std::vector<double>(points, 0.0)};
  for (const Definite definite : {Definite::yes, Definite::unknown, Definite::no}) {
    qp.K = gaussian(1, definite);
    const Certificate c = certify(qp, zero, Threads(1)).certificate;
    EXPECT_EQ(c.mercer, definite != Definite::no);
    EXPECT_EQ(c.sampled, definite == Definite::unknown);
  }
}

}  // namespace
}  // namespace maxmargin::infeasible_test
