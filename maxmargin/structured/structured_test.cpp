#include "maxmargin/structured/structured.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/doctor.hpp"
#include "maxmargin/structured/solvers/solve.hpp"
#include "tests/enumerated_structures.hpp"

namespace maxmargin::structured_test {
namespace {

using enumerated::TableOracle;

constexpr std::size_t examples = 6, structures = 5, dimensions = 7;

std::vector<std::vector<Structure>> all_of(const TableOracle& oracle) {
  std::vector<std::vector<Structure>> all(oracle.examples());
  for (auto& each : all)
    for (std::int32_t y = 0; y < static_cast<std::int32_t>(structures); ++y) each.push_back({y});
  return all;
}

Stop to_gap(double gap) {
  Stop stop;
  stop.relative_gap = gap;
  stop.kkt = gap;
  stop.iterations = 20000;
  return stop;
}

std::vector<Structured> all_problems(const Oracle& oracle) {
  std::vector<Structured> problems;
  for (const Rescaling rescaling : {Rescaling::margin, Rescaling::slack})
    for (const Slack slack : {Slack::linear, Slack::squared, Slack::none})
      for (const double C : {0.3, 20.0}) problems.push_back({oracle, C, rescaling, slack});
  return problems;
}

std::string shown(const Structured& problem) {
  return std::string(to_string(problem.rescaling)) + " rescaling, " +
         std::string(to_string(problem.slack)) + " slack, C = " + std::to_string(problem.C);
}

TEST(StructuredConformance, EverySolverFindsTheOptimumOverAllStructures) {
  for (const std::uint64_t seed : {3, 4, 5}) {
    const TableOracle oracle(examples, structures, dimensions, 8, seed);
    const Threads threads(1);
    for (const Structured& problem : all_problems(oracle)) {
      const auto expected = enumerated::optimum(problem, all_of(oracle));
      for_each_component<StructuredSolver>([&](const auto& solver) {
        SCOPED_TRACE(shown(problem) + ", " + std::string(solver.name));
        const SolvedStructured solved = solve(problem, solver, to_gap(1e-9), {threads});
        EXPECT_EQ(solved.solution.ended, Ended::converged);
        const double scale = 1 + std::abs(expected.objective);
        EXPECT_NEAR(solved.certificate.primal, expected.objective, 1e-8 * scale);
        EXPECT_NEAR(solved.certificate.dual, expected.objective, 1e-8 * scale);
        EXPECT_GE(solved.certificate.gap, 0);
        // |w - w*|^2 <= 2 (P - P*): for w a solver goes on until rounding stops it.
        const SolvedStructured rounded = solve(problem, solver, to_gap(0), {threads});
        EXPECT_EQ(rounded.solution.ended, Ended::stalled);
        EXPECT_LE(rounded.certificate.relative_gap, 1e-10);
        for (std::size_t j = 0; j < dimensions; ++j)
          EXPECT_NEAR(rounded.w.coefficients()[j], expected.w[j], 1e-8) << j;
      });
    }
  }
}

TEST(StructuredCertificateTest, IsTheSumOverExamplesOfTermsThatAreNotNegative) {
  const TableOracle oracle(examples, structures, dimensions, 0, 4);
  const Threads threads(1);
  Rng rng(9);
  for (const Structured& problem : all_problems(oracle)) {
    SCOPED_TRACE(shown(problem));
    Planes planes(examples);
    for (auto& each : planes)
      for (std::int32_t y = 1; y < 4; ++y)
        each.push_back({{y}, 0, rng.uniform() * problem.share() / 3, 0});
    const CertifiedStructures certified = certify(problem, planes, threads);
    const StructuredCertificate& c = certified.certificate;
    for (const double term : certified.terms) EXPECT_GE(term, -1e-14);
    if (problem.slack != Slack::none) {
      EXPECT_NEAR(c.gap, c.primal - c.dual, 1e-12 * (std::abs(c.primal) + std::abs(c.dual)));
    }
    EXPECT_LT(c.rounding, 1e-10);
    EXPECT_EQ(c.exactness, Exactness::exact);
  }
}

TEST(StructuredCertificateTest, RefusesAlphaThatTheDualDoesNotAllow) {
  const TableOracle oracle(examples, structures, dimensions, 0, 4);
  const Structured problem{oracle, 6};
  Planes planes(examples);
  planes[2] = {{{1}, 0, 0.7, 0}, {{2}, 0, 0.4, 0}};
  EXPECT_THROW(certify(problem, planes, Threads(1)), Error);
  planes[2] = {{{1}, 0, -0.1, 0}};
  EXPECT_THROW(certify(problem, planes, Threads(1)), Error);
}

// The directional derivative of P by a difference quotient, against the subgradient that the
// certificate's structures give.
TEST(StructuredCertificateTest, PrimalHasTheSlopeOfItsMostViolatedStructures) {
  const TableOracle oracle(examples, structures, dimensions, 1, 5);
  const Threads threads(1);
  Rng rng(2);
  for (const Structured& problem : all_problems(oracle)) {
    if (problem.slack == Slack::none) continue;
    SCOPED_TRACE(shown(problem));
    std::vector<double> w(dimensions), step(dimensions);
    for (double& each : w) each = 0.3 * rng.normal();
    for (double& each : step) each = rng.normal();
    double slope = 0;
    for (std::size_t j = 0; j < dimensions; ++j) slope += w[j] * step[j];
    for (std::size_t i = 0; i < examples; ++i) {
      const Structure y = oracle.most_violated(i, w, problem.ask());
      JointFeatures psi;
      oracle.difference(i, y, problem.plane_scale(oracle.loss(i, y)), psi);
      const double s = oracle.loss(i, y) - psi.dot(w);
      const double factor = problem.slack == Slack::squared ? 2 * s : 1;
      slope -= problem.share() * factor * psi.dot(step);
    }
    const auto primal_at = [&](double t) {
      std::vector<double> moved = w;
      double norm = 0;
      for (std::size_t j = 0; j < dimensions; ++j) {
        moved[j] += t * step[j];
        norm += moved[j] * moved[j];
      }
      return structured_primal(problem, moved, norm, threads);
    };
    const double h = 1e-6;
    EXPECT_NEAR((primal_at(h) - primal_at(-h)) / (2 * h), slope, 1e-5 * (1 + std::abs(slope)));
  }
}

TEST(StructuredSolvers, GiveTheSameBitsForAnyNumberOfThreads) {
  const TableOracle oracle(60, structures, dimensions, 0.5, 6);
  const Structured problem{oracle, 30};
  Stop stop;
  stop.relative_gap = 1e-6;
  stop.iterations = 3;
  for_each_component<StructuredSolver>([&](const auto& solver) {
    const Threads one(1), three(3);
    const SolvedStructured a = solve(problem, solver, stop, {one});
    const SolvedStructured b = solve(problem, solver, stop, {three});
    EXPECT_EQ(a.w.coefficients(), b.w.coefficients()) << solver.name;
    EXPECT_EQ(a.solution.oracle_calls, b.solution.oracle_calls) << solver.name;
  });
}

TEST(StructuredSolvers, GoOnFromPlanesOfAnotherCostAndFromACheckpoint) {
  const TableOracle oracle(60, structures, dimensions, 0.5, 7);
  const Threads threads(1);
  Stop stop;
  stop.relative_gap = 1e-5;
  for_each_component<StructuredSolver>([&](const auto& solver) {
    const Structured small{oracle, 10}, large{oracle, 12};
    Planes seen;
    StructuredRun run{threads};
    run.checkpoint = [&](const Planes& planes) { seen = planes; };
    const SolvedStructured first = solve(small, solver, stop, run);
    const SolvedStructured cold = solve(large, solver, stop, {threads});
    StructuredRun warm{threads};
    warm.start = planes_for_cost(first.solution.planes, small, large.C);
    const SolvedStructured second = solve(large, solver, stop, warm);
    EXPECT_EQ(second.solution.ended, Ended::converged) << solver.name;
    EXPECT_NEAR(second.certificate.primal, cold.certificate.primal, 2e-5 * cold.certificate.primal);
    EXPECT_LT(second.solution.oracle_calls, cold.solution.oracle_calls) << solver.name;
    warm.start = seen;
    const SolvedStructured resumed = solve(small, solver, stop, warm);
    EXPECT_EQ(resumed.solution.ended, Ended::converged) << solver.name;
    EXPECT_LT(resumed.solution.oracle_calls, first.solution.oracle_calls) << solver.name;
  });
}

TEST(StructuredSolvers, SayHonestlyThatTheyWereStopped) {
  const TableOracle oracle(60, structures, dimensions, 0.5, 8);
  const Structured problem{oracle, 100};
  const Threads threads(1);
  for_each_component<StructuredSolver>([&](const auto& solver) {
    Stop stop;
    stop.relative_gap = 1e-9;
    stop.iterations = 2;
    const SolvedStructured limited = solve(problem, solver, stop, {threads});
    EXPECT_EQ(limited.solution.ended, Ended::iteration_limit) << solver.name;
    EXPECT_GT(limited.certificate.relative_gap, 1e-9) << solver.name;
    stop.iterations = 100000;
    stop.seconds = 0;
    EXPECT_EQ(solve(problem, solver, stop, {threads}).solution.ended, Ended::time_limit)
        << solver.name;
  });
}

TEST(StructuredSolvers, SayThatNoHardMarginExists) {
  TableOracle oracle(2, 2, 2, 0, 1);
  oracle.features_ = {{{0, 0}, {1, 1}}, {{1, 1}, {0, 0}}};
  const Structured problem{oracle, 1, Rescaling::margin, Slack::none};
  Stop stop;
  stop.iterations = 1000;
  const Threads threads(1);
  for_each_component<StructuredSolver>([&](const auto& solver) {
    EXPECT_NE(solve(problem, solver, stop, {threads}).solution.ended, Ended::converged)
        << solver.name;
  });
}

/// A table whose answers are spoiled in one way.
class BrokenOracle : public TableOracle {
 public:
  enum class Fault { truth_costs, negative_loss, worse_than_truth, misses, dimension, not_finite };
  explicit BrokenOracle(Fault fault) : TableOracle(4, 4, 3, 0, 1), fault_(fault) {
    if (fault == Fault::truth_costs) losses_[2][0] = 0.1;
    if (fault == Fault::negative_loss) losses_[2][1] = losses_[2][2] = losses_[2][3] = -1;
    if (fault == Fault::not_finite) features_[2][1][0] = NAN;
  }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    TableOracle::features(i, y, scale, out);
    if (fault_ == Fault::dimension && i == 2) out.add(3, 1);
  }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override {
    if (i != 2) return TableOracle::most_violated(i, w, ask);
    if (fault_ == Fault::worse_than_truth) return {1};
    if (fault_ == Fault::misses)
      return w[0] == 0 ? Structure{0} : TableOracle::most_violated(i, w, ask);
    if (fault_ == Fault::negative_loss || fault_ == Fault::not_finite || fault_ == Fault::dimension)
      return {1};
    return TableOracle::most_violated(i, w, ask);
  }
  using Oracle::most_violated;

 private:
  Fault fault_;
};

TEST(StructuredDoctor, NamesTheExampleThatBreaksTheRules) {
  EXPECT_NO_THROW(examine({TableOracle(20, 4, 3, 0, 1)}));
  using Broken = BrokenOracle::Fault;
  for (const Broken fault : {Broken::truth_costs, Broken::negative_loss, Broken::worse_than_truth,
                             Broken::misses, Broken::dimension, Broken::not_finite}) {
    try {
      examine({BrokenOracle(fault)});
      ADD_FAILURE() << static_cast<int>(fault);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("example 3: "), std::string::npos) << error.what();
    }
  }
}

TEST(StructuredCertificateTest, RefusesAnOracleThatIsWorseThanTheTruth) {
  const BrokenOracle oracle(BrokenOracle::Fault::worse_than_truth);
  EXPECT_THROW(certify({oracle, 100}, {{}, {}, {{{1}, 0, 24, 0}}, {}}, Threads(1)), Error);
}

}  // namespace
}  // namespace maxmargin::structured_test
