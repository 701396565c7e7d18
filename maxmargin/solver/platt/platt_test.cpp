#include "maxmargin/solver/platt/platt.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "tests/dense_optimum.hpp"

namespace maxmargin::platt_test {
namespace {

enum class Form { hinge, tube, one_class, nu, squared_tube };

/// Noisy points in the plane: a machine of one of the kinds that pairs can solve.
DualQp machine(Form form, std::size_t rows, double cost) {
  Rng rng(5);
  std::vector<double> values;
  DualQp qp;
  std::vector<double> positive, negative;
  const auto add = [&](std::size_t i, const Block& block) {
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back(block);
    const bool first = form != Form::nu || block.sign > 0;
    positive.push_back(first ? block.sign : 0);
    negative.push_back(first ? 0 : block.sign);
  };
  for (std::size_t i = 0; i < rows; ++i) {
    const double y = i % 2 == 0 ? 1 : -1;
    values.push_back(rng.normal() + y);
    values.push_back(rng.normal());
    const double target = std::sin(values[2 * i]) + 0.3 * rng.normal();
    if (form == Form::hinge) add(i, {y, -1, 0, cost, 0});
    if (form == Form::nu) add(i, {y, 0, 0, 1, 0});
    if (form == Form::one_class) add(i, {1, 0, 0, 1, 0});
    if (form == Form::tube || form == Form::squared_tube) {
      const double bend = form == Form::tube ? 0 : 1 / cost;
      add(i, {1, 0.1 - target, 0, form == Form::tube ? cost : infinity, bend});
      add(i, {-1, 0.1 + target, 0, form == Form::tube ? cost : infinity, bend});
    }
  }
  const double nu = 0.3 * static_cast<double>(rows);
  qp.A = {positive};
  qp.d = {form == Form::one_class ? nu : form == Form::nu ? nu / 2 : 0};
  if (form == Form::nu) {
    qp.A.push_back(negative);
    qp.d.push_back(-nu / 2);
  }
  qp.K =
      make_kernel_quadratic(Rbf{1.0}, std::make_shared<const Features>(Features::dense(2, values)));
  return qp;
}

constexpr Form all_forms[] = {Form::hinge, Form::tube, Form::one_class, Form::nu,
                              Form::squared_tube};

void expect_optimum(const DualQp& qp, Platt options, double optimum) {
  options.stop.kkt = 1e-6;
  options.stop.relative_gap = 1e-8;
  const Certified found = solve(qp, options, Threads(1));
  EXPECT_EQ(found.solution.ended, Ended::converged);
  EXPECT_NEAR(found.certificate.dual, optimum, 1e-7 * std::abs(optimum));
  EXPECT_NEAR(found.certificate.primal, optimum, 1e-7 * std::abs(optimum));
  EXPECT_GT(found.solution.values_asked, 0u);
  EXPECT_LE(found.solution.values_found, found.solution.values_asked);
}

TEST(Platt, FindsTheOptimumOfADenseReferenceInAllItsWays) {
  for (const Form form : all_forms) {
    const DualQp qp = machine(form, 40, 2);
    const double optimum = reference::dense_optimum(qp).dual;
    for (const Thresholds thresholds : {Thresholds::one, Thresholds::two})
      for (const CachePolicy cache :
           {CachePolicy::row, CachePolicy::element, CachePolicy::function}) {
        Platt options;
        options.thresholds = thresholds;
        options.cache = cache;
        SCOPED_TRACE(std::to_string(static_cast<int>(form)) + " " +
                     std::string(to_string(thresholds)) + " " + std::string(to_string(cache)));
        expect_optimum(qp, options, optimum);
      }
  }
}

TEST(Platt, FindsTheOptimumForEveryZetaAndOrder) {
  for (const Form form : {Form::hinge, Form::tube}) {
    const DualQp qp = machine(form, 40, 5);
    InteriorPoint other;
    other.stop.relative_gap = 1e-10;
    const double optimum = solve(qp, other, Threads(1)).certificate.dual;
    for (const char* zeta : {"0.3", "0.8", "1.3", "1.8", "1.95", "adaptive"})
      for (const Order order : {Order::random, Order::increasing, Order::decreasing}) {
        Platt options;
        options.zeta = *Zeta::parse(zeta);
        options.order = order;
        options.random_start = order == Order::random;
        options.full_sweep = order == Order::increasing ? 0 : 0.1;
        SCOPED_TRACE(std::string(zeta) + " " + std::string(to_string(order)));
        expect_optimum(qp, options, optimum);
      }
  }
}

TEST(Platt, LittleMemoryChangesTheHitRateAndNotTheAnswer) {
  const DualQp qp = machine(Form::hinge, 200, 5);
  Platt options;
  const Certified roomy = solve(qp, options, Threads(1));
  options.cache_bytes = 1;
  const Certified scarce = solve(qp, options, Threads(1));
  EXPECT_NEAR(roomy.certificate.dual, scarce.certificate.dual, 1e-12 * roomy.certificate.dual);
  EXPECT_EQ(roomy.solution.iterations, scarce.solution.iterations);
  EXPECT_GT(roomy.solution.values_found, 2 * scarce.solution.values_found);
}

TEST(Platt, EndsAtItsLimitsAndSaysSo) {
  const DualQp qp = machine(Form::hinge, 400, 100);
  Platt few;
  few.stop.iterations = 10;
  const Certified limited = solve(qp, few, Threads(1));
  EXPECT_EQ(limited.solution.ended, Ended::iteration_limit);
  EXPECT_EQ(limited.solution.iterations, 10u);
  EXPECT_GT(limited.certificate.gap, 0);
  Platt no_time;
  no_time.stop.seconds = 0;
  EXPECT_EQ(solve(qp, no_time, Threads(1)).solution.ended, Ended::time_limit);
}

TEST(Platt, RefusesWhatPairsCannotKeep) {
  const DualQp qp = machine(Form::hinge, 10, 1);
  EXPECT_FALSE(refuses(qp, Platt{}).has_value());
  DualQp without_bias = qp, another_row = qp;
  without_bias.A.clear();
  without_bias.d.clear();
  EXPECT_NE(refuses(without_bias, Platt{})->find("leave --bias out"), std::string::npos);
  another_row.A.push_back({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  another_row.d.push_back(0);
  EXPECT_TRUE(refuses(another_row, Platt{}).has_value());
}

TEST(Platt, RefusesAZetaThatWouldNotLowerTheObjective) {
  const DualQp qp = machine(Form::hinge, 10, 1);
  for (const double value : {0.0, 2.0, -1.0, std::nan("")}) {
    Platt options;
    options.zeta.value = value;
    const auto why = refuses(qp, options);
    ASSERT_TRUE(why.has_value()) << value;
    EXPECT_NE(why->find("greater than 0 and less than 2"), std::string::npos) << *why;
  }
  EXPECT_FALSE(Zeta::parse("2").has_value());
  EXPECT_FALSE(Zeta::parse("1.5x").has_value());
  EXPECT_EQ(Zeta::parse("1.5")->text(), "1.5");
  EXPECT_EQ(Zeta::parse("adaptive")->text(), "adaptive");
}

}  // namespace
}  // namespace maxmargin::platt_test
