#include "maxmargin/solver/decomposition/decomposition.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin::decomposition_test {
namespace {

/// Two noisy classes in the plane with `rows` equality rows: that of the bias first.
DualQp two_classes(std::size_t size, double cost, std::size_t rows) {
  Rng rng(5);
  std::vector<double> values;
  DualQp qp;
  qp.A.resize(rows);
  qp.d.assign(rows, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    const double y = i % 2 == 0 ? 1 : -1;
    values.push_back(rng.normal() + y);
    values.push_back(rng.normal());
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({y, -1, 0, cost, 0});
    for (std::size_t r = 0; r < rows; ++r)
      qp.A[r].push_back(y * std::pow(values[2 * i], static_cast<double>(r)));
  }
  qp.K =
      make_kernel_quadratic(Rbf{1.0}, std::make_shared<const Features>(Features::dense(2, values)));
  return qp;
}

double optimum_of(const DualQp& qp) {
  InteriorPoint other;
  other.stop.kkt = 1e-7;
  other.stop.relative_gap = 1e-10;
  return solve(qp, other, Threads(1)).certificate.dual;
}

template <class Options>
void expect_optimum(const DualQp& qp, Options options, double optimum) {
  options.stop.kkt = 1e-6;
  options.stop.relative_gap = 1e-7;
  const Certified found = solve(qp, options, Threads(1));
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_NEAR(found.certificate.dual, optimum, 1e-7 * optimum);
  EXPECT_NEAR(found.certificate.primal, optimum, 1e-7 * optimum);
  EXPECT_LE(found.certificate.equality_residual, 1e-9);
}

TEST(Decomposition, EveryRuleAndSizeFindsTheOptimum) {
  const DualQp qp = two_classes(60, 2, 1);
  const double optimum = optimum_of(qp);
  for (const auto& [rule, name] : Named<SelectionRule>::values)
    for (const bool balanced : {true, false})
      for (const int size : {2, 7, 30, 1000}) {
        SCOPED_TRACE(std::string(name) + (balanced ? " balanced " : " ") + std::to_string(size));
        Decomposition options;
        options.selection = rule;
        options.balanced = balanced;
        options.working_set = size;
        options.sticky = size == 7 ? 3 : 0;
        expect_optimum(qp, options, optimum);
      }
}

TEST(Decomposition, AnyInnerSolverThatTakesTheRowsWillDo) {
  for (const std::size_t rows : {0u, 1u, 3u}) {
    const DualQp qp = two_classes(60, 2, rows);
    const double optimum = optimum_of(qp);
    for (const char* inner : {"auto", "smo", "interior-point", "primal-dual", "sor", "platt"}) {
      SCOPED_TRACE(std::to_string(rows) + " rows, " + inner);
      Decomposition sets;
      sets.inner.name = inner;
      sets.working_set = 20;
      Chunking chunks;
      chunks.inner.name = inner;
      chunks.chunk = 10;
      if (refuses(qp, sets)) {
        EXPECT_TRUE(refuses(qp, chunks));
        // What pairs need, a bias; what single variables need, none.
        EXPECT_TRUE(rows == 0 ? inner[0] == 'p' || inner[0] == 's' : std::string(inner) != "auto");
        continue;
      }
      expect_optimum(qp, sets, optimum);
      expect_optimum(qp, chunks, optimum);
    }
  }
}

// Problem 10.11: what the set's terms of the gap come to is gone once the set is solved.
TEST(Decomposition, GapOfTheSetVanishesAndTheWholeObjectiveFallsByAsMuch) {
  const DualQp qp = two_classes(50, 2, 1);
  Decomposition one_set;
  one_set.working_set = 20;
  one_set.stop.iterations = 1;
  const Certified first = solve(qp, one_set, Threads(1));
  EXPECT_EQ(first.solution.ended, Ended::iteration_limit);
  one_set.stop.iterations = 2;
  const Certified second = solve(qp, one_set, Threads(1));
  EXPECT_GT(first.certificate.dual, 0);
  EXPECT_GT(second.certificate.dual, first.certificate.dual);
}

// Table 10.1 for the hinge, written out.
TEST(Selection, RulesAreThoseOfTheBook) {
  Rng rng(3);
  DualQp qp = two_classes(30, 2, 1);
  std::vector<double> a(30), h(30);
  for (std::size_t v = 0; v < 30; ++v) {
    a[v] = v % 3 == 0 ? 0 : v % 3 == 1 ? 2 : rng.uniform(0, 2);
    h[v] = rng.normal() + 1;  // y f
  }
  const auto gap = scores(qp, a, h, SelectionRule::kkt_gap, 0);
  const auto gradient = scores(qp, a, h, SelectionRule::gradient, 0);
  const auto multiplier = scores(qp, a, h, SelectionRule::multiplier, 0);
  const auto heaviside = [](double x) { return x > 0 ? 1.0 : 0.0; };
  for (std::size_t v = 0; v < 30; ++v) {
    const double short_by = std::max(0.0, 1 - h[v]), above = std::max(0.0, h[v] - 1);
    EXPECT_NEAR(gap[v], (2 - a[v]) * short_by + a[v] * above, 1e-12);
    EXPECT_NEAR(gradient[v], heaviside(2 - a[v]) * short_by + heaviside(a[v]) * above, 1e-12);
    EXPECT_NEAR(multiplier[v], (2 - a[v]) * heaviside(1 - h[v]) + a[v] * heaviside(h[v] - 1),
                1e-12);
  }
}

TEST(Selection, BalancedSetsRaiseAndLowerTheSumOfTheirRowAlike) {
  const DualQp qp = two_classes(100, 2, 1);
  std::vector<double> a(100, 1.0), h;
  Rng rng(4);
  for (std::size_t v = 0; v < 100; ++v) h.push_back(1 + rng.normal());
  const auto score = scores(qp, a, h, SelectionRule::gradient, 0);
  const auto sum = [&](bool balanced) {
    int raises = 0;
    for (const Index v : best_scored(qp, a, h, score, 10, balanced))
      raises += (h[v] < 1) == (qp.A[0][v] > 0) ? 1 : -1;
    return raises;
  };
  EXPECT_EQ(sum(true), 0);
  const auto best = best_scored(qp, a, h, score, 10, false);
  EXPECT_EQ(best.size(), 10u);
  for (std::size_t v = 0; v < 100; ++v)
    if (std::ranges::count(best, static_cast<Index>(v)) == 0) {
      EXPECT_LE(score[v], score[best.back()]);
    }
}

TEST(Decomposition, RefusesSetsThatCannotMoveAndSolversThatCannotTakeThem) {
  const DualQp qp = two_classes(20, 1, 3);
  Decomposition options;
  options.working_set = 3;
  EXPECT_NE(refuses(qp, options)->find("sets of at least 4"), std::string::npos);
  options.working_set = 4;
  EXPECT_FALSE(refuses(qp, options).has_value());
  options.inner.name = "gauss-seidel";
  EXPECT_NE(refuses(qp, options)->find("it takes no equality row"), std::string::npos);
  EXPECT_NE(refuses(qp, options)->find("choose another --inner"), std::string::npos);
  options.inner.name = "decomposition";
  EXPECT_NE(refuses(qp, options)->find("would call itself"), std::string::npos);
  options.inner.name = "nobody";
  EXPECT_NE(refuses(qp, options)->find("there is no solver 'nobody'"), std::string::npos);
  EXPECT_THROW(solve(qp, options, Threads(1)), Error);
  EXPECT_EQ(InnerSolver::parse("nobody")->text(), "nobody");
  EXPECT_FALSE(InnerSolver::parse(std::string(ShortName::most_letters + 1, 'x')).has_value());
}

}  // namespace
}  // namespace maxmargin::decomposition_test
