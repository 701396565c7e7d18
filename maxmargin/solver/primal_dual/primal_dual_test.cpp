#include "maxmargin/solver/primal_dual/primal_dual.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_optimum.hpp"

namespace maxmargin::primal_dual_test {
namespace {

enum class Form { classes, tube };

/// A machine with `functions` unpenalised functions: the bias, sin(2 x), cos(3 x), x.
DualQp machine(Form form, std::size_t rows, std::size_t functions, double cost,
               std::uint64_t seed = 7) {
  Rng rng(seed);
  std::vector<double> values;
  DualQp qp;
  qp.A.resize(functions);
  qp.d.assign(functions, 0.0);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.uniform(-2, 2);
    values.push_back(x);
    const double phi[] = {1, std::sin(2 * x), std::cos(3 * x), x};
    const double target = phi[1] + 0.5 * phi[3] + x * x / 3 + 0.3 * rng.normal();
    const auto add = [&](const Block& block) {
      qp.row.push_back(static_cast<Index>(i));
      qp.block.push_back(block);
      for (std::size_t r = 0; r < functions; ++r) qp.A[r].push_back(block.sign * phi[r]);
    };
    if (form == Form::classes) {
      add({target > 0.5 ? 1.0 : -1.0, -1, 0, cost, 0});
    } else {
      add({1, 0.1 - target, 0, cost, 0});
      add({-1, 0.1 + target, 0, cost, 0});
    }
  }
  qp.K =
      make_kernel_quadratic(Rbf{1.0}, std::make_shared<const Features>(Features::dense(1, values)));
  return qp;
}

Certified solved(const DualQp& qp, const PrimalDual& options) {
  const Threads threads(1);
  return solve(qp, options, threads);
}

PrimalDual exact() {
  PrimalDual options;
  options.stop.kkt = 1e-7;
  options.stop.relative_gap = 1e-9;
  return options;
}

TEST(PrimalDual, FindsTheOptimumOfADenseReferenceForAnyNumberOfRows) {
  for (const Form form : {Form::classes, Form::tube})
    for (std::size_t functions = 0; functions <= 4; ++functions)
      for (const double cost : {0.05, 1.0, 20.0}) {
        const DualQp qp = machine(form, 24, functions, cost);
        const reference::Optimum truth = reference::dense_optimum(qp);
        const Certified found = solved(qp, exact());
        SCOPED_TRACE(testing::Message() << functions << " functions, cost " << cost);
        EXPECT_EQ(found.solution.ended, Ended::converged);
        EXPECT_NEAR(found.certificate.dual, truth.dual, 1e-8 * (1 + truth.dual));
        EXPECT_NEAR(found.certificate.primal, truth.dual, 1e-8 * (1 + truth.dual));
        EXPECT_LE(found.certificate.equality_residual, 1e-11 * (1 + cost));
        EXPECT_LE(found.certificate.bound_residual, 0);
      }
}

/// 1/2 beta'K beta + sum C max(0, |y - f| - eps) of f = K beta + lambda'phi, by its definition.
double tube_primal(const DualQp& qp, const std::vector<double>& beta,
                   const std::vector<double>& lambda, double cost) {
  const Threads one(1);
  std::vector<double> f(beta.size());
  qp.K->multiply(beta, f, Precision::exact, one);
  double sum = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    sum += beta[i] * f[i] / 2;
    for (std::size_t r = 0; r < lambda.size(); ++r) f[i] += qp.A[r][2 * i] * lambda[r];
    const double y = 0.1 - qp.block[2 * i].linear;
    sum += cost * std::max(0.0, std::abs(y - f[i]) - 0.1);
  }
  return sum;
}

TEST(PrimalDual, NoStepInAnyDirectionLowersThePrimal) {
  Rng rng(3);
  const DualQp qp = machine(Form::tube, 40, 3, 2);
  const Certified found = solved(qp, exact());
  const std::vector<double> beta = qp.coefficients(found.solution.a);
  const double optimum = tube_primal(qp, beta, found.solution.lambda, 2);
  EXPECT_NEAR(optimum, found.certificate.primal, 1e-9 * optimum);
  for (const double size : {1e-4, 1e-2, 1.0})
    for (int direction = 0; direction < 50; ++direction) {
      std::vector<double> other = beta, multipliers = found.solution.lambda;
      for (double& each : other) each += size * rng.normal() / 6;
      for (double& each : multipliers) each += size * rng.normal();
      EXPECT_GE(tube_primal(qp, other, multipliers, 2), optimum - 1e-8 * optimum);
    }
}

// How the multipliers are moved and how many variables at a time changes the way, not the end.
TEST(PrimalDual, TheOptimumDoesNotDependOnTheOptions) {
  const DualQp qp = machine(Form::tube, 60, 3, 1);
  const double optimum = solved(qp, exact()).certificate.dual;
  for (const Safeguard safeguard : {Safeguard::augmented, Safeguard::bounded, Safeguard::none})
    for (const bool wait : {false, true})
      for (const int set : {1, 7, 256}) {
        PrimalDual options;
        options.stop.relative_gap = 1e-5;
        options.safeguard = safeguard;
        options.hessian = true;
        options.wait = wait;
        options.working_set = set;
        const Certified found = solved(qp, options);
        SCOPED_TRACE(testing::Message() << to_string(safeguard) << ", sets of " << set);
        EXPECT_EQ(found.solution.ended, Ended::converged);
        EXPECT_NEAR(found.certificate.dual, optimum, 2e-5 * optimum);
      }
  for (const double penalty : {0.01, 100.0}) {
    PrimalDual options = exact();
    options.penalty = penalty;
    EXPECT_NEAR(solved(qp, options).certificate.dual, optimum, 1e-8 * optimum) << penalty;
  }
}

// Where all variables end at their bounds the dual function has corners; Newton's steps alone do
// not end there.
TEST(PrimalDual, TheSafeguardConvergesWhereHardlyAnyVariableIsFree) {
  const DualQp qp = machine(Form::tube, 80, 3, 1e-3);
  PrimalDual plain;
  plain.safeguard = Safeguard::none;
  plain.hessian = true;
  EXPECT_NE(solved(qp, plain).solution.ended, Ended::converged);
  const Certified found = solved(qp, PrimalDual{});
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_LE(found.certificate.relative_gap, 1e-3);
}

Certified converged(const DualQp& qp, double gap = 1e-6) {
  PrimalDual options;
  options.stop.kkt = 1e-5;
  options.stop.relative_gap = gap;
  const Certified found = solved(qp, options);
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_LE(found.certificate.kkt, 1e-5);
  EXPECT_LE(found.certificate.relative_gap, gap);
  EXPECT_LE(found.certificate.equality_residual, 1e-9);
  return found;
}

// The multipliers are then hardly, or not at all, determined; the machine is.
TEST(PrimalDual, ConvergesWhereRowsAreNearlyOrQuiteDependent) {
  for (const Form form : {Form::classes, Form::tube})
    for (const double apart : {1e-2, 1e-6, 0.0}) {
      SCOPED_TRACE(testing::Message() << "rows apart by " << apart);
      DualQp qp = machine(form, 30, 3, 1);
      const double without = converged(qp).certificate.dual;
      qp.A.push_back(qp.A[1]);
      qp.d.push_back(0);
      for (std::size_t v = 0; v < qp.size(); ++v)
        qp.A[3][v] += apart * (v % 7 == 0 ? 1 : 0) * qp.block[v].sign;
      const double with = converged(qp).certificate.dual;
      EXPECT_LE(with, without * (1 + 2e-6));
      if (apart == 0) {
        EXPECT_NEAR(with, without, 2e-6 * without);
      }
    }
}

// Q has rank one, then rank zero but for a single point.
TEST(PrimalDual, ConvergesWhereQHasHardlyAnyCurvature) {
  for (const Form form : {Form::classes, Form::tube})
    for (const bool nearly_all_zero : {false, true})
      for (const double cost : {0.01, 1.0}) {
        SCOPED_TRACE(testing::Message() << nearly_all_zero << ", cost " << cost);
        DualQp qp = machine(form, 40, 2, cost);
        Rng rng(11);
        std::vector<double> values(40, 0.0);
        values[3] = 1;
        if (!nearly_all_zero)
          for (double& x : values) x = rng.normal();
        qp.K = make_kernel_quadratic(Linear{},
                                     std::make_shared<const Features>(Features::dense(1, values)));
        converged(qp);
      }
}

TEST(PrimalDual, ConvergesForCostsOfAllSizes) {
  for (const Form form : {Form::classes, Form::tube})
    for (const double cost : {1e-6, 1e-2, 1e6}) {
      SCOPED_TRACE(testing::Message() << "cost " << cost);
      DualQp qp = machine(form, 24, 3, cost);
      // Without bounds in sight the steps are as many as the matrix's condition asks for.
      std::vector<double> apart;
      for (int i = 0; i < 24; ++i) apart.push_back(i + 0.3 * std::sin(i));
      qp.K = make_kernel_quadratic(Rbf{1.0},
                                   std::make_shared<const Features>(Features::dense(1, apart)));
      // A violation costs as much as the largest variables: the gap of large costs is none to ask
      // for.
      converged(qp, cost > 1 ? infinity : 1e-6);
    }
}

// The condition of Q asks for millions of steps of one variable each.
TEST(PrimalDual, NewtonStepsEndWhereSingleOnesTakeTooLong) {
  const DualQp qp = machine(Form::tube, 60, 3, 1000);
  PrimalDual options;
  options.stop.iterations = 300'000;
  const Certified found = solved(qp, options);
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_LE(found.certificate.relative_gap, 1e-3);
  options.newton = false;
  EXPECT_EQ(solved(qp, options).solution.ended, Ended::iteration_limit);
}

TEST(PrimalDual, HasTheSameBitsForAnyNumberOfThreads) {
  const DualQp qp = machine(Form::tube, 5000, 3, 0.01);
  PrimalDual options;
  options.stop.kkt = 0.1;
  options.stop.relative_gap = 0.1;
  const Threads one(1), three(3);
  const Certified first = solve(qp, options, one), second = solve(qp, options, three);
  EXPECT_EQ(first.solution.a, second.solution.a);
  EXPECT_EQ(first.solution.lambda, second.solution.lambda);
}

TEST(PrimalDual, StopsAtItsLimitsAtAFeasiblePoint) {
  const DualQp qp = machine(Form::classes, 200, 3, 100);
  PrimalDual few;
  few.stop.iterations = 30;
  const Certified limited = solved(qp, few);
  EXPECT_EQ(limited.solution.ended, Ended::iteration_limit);
  EXPECT_EQ(limited.solution.iterations, 30u);
  EXPECT_GT(limited.certificate.gap, 0);
  EXPECT_LE(limited.certificate.equality_residual, 1e-9);
  EXPECT_LE(limited.certificate.bound_residual, 0);
  PrimalDual no_time;
  no_time.stop.seconds = 0;
  EXPECT_EQ(solved(qp, no_time).solution.ended, Ended::time_limit);
}

TEST(PrimalDual, CanBeWatchedStepByStep) {
  const DualQp qp = machine(Form::classes, 30, 2, 1);
  PrimalDual options;
  options.working_set = 1;
  std::size_t calls = 0, dual_steps = 0, last = 0;
  const std::function<void(const PrimalDualState&)> count = [&](const PrimalDualState& state) {
    ++calls;
    dual_steps += state.dual_step;
    EXPECT_LE(state.iteration, last + 1);
    EXPECT_EQ(state.lambda.size(), 2u);
    last = state.iteration;
  };
  options.watch = &count;
  const Certified found = solved(qp, options);
  EXPECT_GT(dual_steps, 0u);
  EXPECT_EQ(calls - dual_steps, found.solution.iterations);
}

// Problem 10.2: with an offset that is off, no w is better than R[w, lambda] by more than the gap.
TEST(PrimalDual, BoundsWhatIsLeftWhileTheOffsetIsOff) {
  const DualQp qp = machine(Form::classes, 60, 1, 3);
  const double below = solved(qp, PrimalDual{}).certificate.dual;  // the optimum is not less
  std::vector<double> before(qp.A.size(), 0.0);
  std::size_t looks = 0;
  PrimalDual options;
  options.orthogonal = false;
  const std::function<void(const PrimalDualState&)> judge = [&](const PrimalDualState& state) {
    if (state.dual_step && looks < 4) {
      ++looks;
      EXPECT_GE(state.bound.primal, below);
      // The best w for these multipliers: the rows are prices.
      DualQp fixed{qp.K, qp.row, qp.block, {}, {}};
      double constant = 0;
      for (std::size_t r = 0; r < before.size(); ++r) {
        constant += qp.d[r] * before[r];
        for (std::size_t v = 0; v < qp.size(); ++v) fixed.block[v].linear += qp.A[r][v] * before[r];
      }
      const double best = solved(fixed, PrimalDual{}).certificate.dual + constant;
      EXPECT_GE(state.bound.gap, 0);
      EXPECT_LE(state.bound.primal - state.bound.gap, best + 1e-3 * std::abs(best));
      EXPECT_GE(state.bound.primal, best - 1e-9 * std::abs(best));
    }
    if (state.dual_step) before = state.lambda;
  };
  options.watch = &judge;
  solved(qp, options);
  EXPECT_GT(looks, 1u);
}

TEST(PrimalDual, StartsFromWhatItIsGiven) {
  const DualQp qp = machine(Form::tube, 100, 3, 5);
  const Certified first = solved(qp, PrimalDual{});
  const Threads threads(1);
  const maxmargin::Run again{threads, first.solution.a};
  const Solution second = run(qp, PrimalDual{}, again);
  EXPECT_EQ(second.ended, Ended::converged);
  EXPECT_LE(second.iterations, first.solution.iterations / 4);
}

TEST(PrimalDual, SaysWhatItCannotTake) {
  DualQp qp = machine(Form::classes, 10, 1, 1);
  EXPECT_FALSE(refuses(qp, PrimalDual{}).has_value());
  PrimalDual waiting;
  waiting.wait = true;
  EXPECT_TRUE(refuses(qp, waiting).has_value());
  qp.K = make_kernel_quadratic(
      Sigmoid{}, std::make_shared<const Features>(Features::dense(1, std::vector<double>(10, 1))));
  EXPECT_TRUE(refuses(qp, PrimalDual{}).has_value());
}

}  // namespace
}  // namespace maxmargin::primal_dual_test
