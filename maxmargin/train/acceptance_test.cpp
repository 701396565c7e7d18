#include "maxmargin/train/acceptance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/dense_quadratic.hpp"

namespace maxmargin::acceptance_test {
namespace {

bool accepts(const Acceptance& acceptance, std::string_view task, std::string_view loss,
             Bias bias) {
  return std::ranges::any_of(acceptance.formulations, [&](const AcceptedForm& each) {
    return name_of(each.task) == task && each.loss == loss && each.bias == bias;
  });
}

TEST(Acceptance, FormulationsAreThoseOfTheLists) {
  const std::vector<AcceptedForm> all = formulations();
  std::size_t expected = 0;
  for_each_component<Task>([&](const auto& task) {
    std::size_t losses = 1, biases = 1;
    if constexpr (requires { task.loss; })
      losses = std::variant_size_v<std::remove_cvref_t<decltype(task.loss)>>;
    if constexpr (requires { task.bias; }) biases = Named<Bias>::values.size();
    expected += losses * biases;
  });
  EXPECT_EQ(all.size(), expected);
}

TEST(Acceptance, IsWhatTheMethodsAreMadeFor) {
  const Acceptance smo = acceptance_of(Smo{});
  EXPECT_TRUE(accepts(smo, "svc", "hinge", Bias::unpenalised));
  EXPECT_TRUE(accepts(smo, "nu-svr", "", Bias::unpenalised));
  EXPECT_TRUE(accepts(smo, "svc", "hinge", Bias::none));  // bounded, no equality row
  EXPECT_FALSE(accepts(smo, "svc", "logistic", Bias::unpenalised));
  EXPECT_EQ(smo.indefinite.size(), smo.formulations.size());

  const Acceptance interior_point = acceptance_of(InteriorPoint{});
  EXPECT_EQ(interior_point.formulations.size(), formulations().size());
  EXPECT_TRUE(interior_point.indefinite.empty());
  EXPECT_TRUE(interior_point.any_rows);

  const Acceptance lagrangian = acceptance_of(Lagrangian{});
  EXPECT_TRUE(accepts(lagrangian, "svc", "squared-hinge", Bias::penalised));
  EXPECT_FALSE(accepts(lagrangian, "svc", "squared-hinge", Bias::unpenalised));
  EXPECT_FALSE(accepts(lagrangian, "svc", "hinge", Bias::penalised));
  EXPECT_FALSE(lagrangian.any_rows);
}

TEST(Acceptance, OfTheClassicalSolversToo) {
  const Acceptance platt = acceptance_of(Platt{});
  EXPECT_TRUE(accepts(platt, "svc", "hinge", Bias::unpenalised));
  EXPECT_TRUE(accepts(platt, "svc", "logistic", Bias::unpenalised));
  EXPECT_TRUE(accepts(platt, "svr", "epsilon-insensitive", Bias::unpenalised));
  EXPECT_TRUE(accepts(platt, "nu-svc", "", Bias::unpenalised));
  EXPECT_TRUE(accepts(platt, "one-class", "", Bias::unpenalised));
  EXPECT_FALSE(accepts(platt, "svc", "hinge", Bias::none));
  EXPECT_FALSE(platt.any_rows);
  EXPECT_FALSE(platt.indefinite.empty());
  // These take all there is, with any equality rows, where the kernel is definite.
  for (const Acceptance& all :
       {acceptance_of(Decomposition{}), acceptance_of(Chunking{}), acceptance_of(PrimalNewton{}),
        acceptance_of(GradientDescent{}), acceptance_of(ReweightedLeastSquares{})}) {
    EXPECT_EQ(all.formulations.size(), formulations().size());
    EXPECT_TRUE(all.indefinite.empty());
    EXPECT_TRUE(all.any_rows);
  }
  const Acceptance stochastic = acceptance_of(Stochastic{});
  EXPECT_TRUE(accepts(stochastic, "svc", "hinge", Bias::penalised));
  EXPECT_FALSE(accepts(stochastic, "svc", "hinge", Bias::unpenalised));
  EXPECT_FALSE(stochastic.any_rows);
}

/// "task loss biases", a letter for each bias: u unpenalised, p penalised, n none.
using Forms = std::vector<std::string>;

Forms forms_of(const Acceptance& acceptance) {
  Forms forms;
  for (const AcceptedForm& each : acceptance.formulations) {
    const std::string name = std::string(name_of(each.task)) + " " + each.loss + " ";
    if (forms.empty() || !forms.back().starts_with(name)) forms.push_back(name);
    forms.back() += each.bias == Bias::unpenalised ? 'u' : each.bias == Bias::penalised ? 'p' : 'n';
  }
  return forms;
}

DualQp hinge_with_a_bias(std::size_t points) {
  std::vector<double> unit(points * points, 0.0);
  DualQp qp;
  qp.A.emplace_back();
  qp.d.push_back(0);
  for (std::size_t i = 0; i < points; ++i) {
    unit[i * points + i] = 1;
    const double sign = i % 2 == 0 ? 1 : -1;
    qp.row.push_back(static_cast<Index>(i));
    qp.block.push_back({sign, -1, 0, 1, 0});
    qp.A[0].push_back(sign);
  }
  qp.K = std::make_shared<DenseQuadratic>(points, std::move(unit));
  return qp;
}

// Exactly these and no others: a solver that refuses what it took, or everything, is seen here.
TEST(Acceptance, IsThatOfTheTable) {
  const Forms all = {"svc hinge upn",
                     "svc squared-hinge upn",
                     "svc huberised-hinge upn",
                     "svc logistic upn",
                     "svc exponential upn",
                     "nu-svc  upn",
                     "svr epsilon-insensitive upn",
                     "svr squared-epsilon-insensitive upn",
                     "svr huber upn",
                     "svr squared upn",
                     "svr pinball upn",
                     "nu-svr  upn",
                     "one-class  u"};
  // Whatever has one sum of signed variables to keep, by pairs.
  const Forms pairs = {"svc hinge u",
                       "svc squared-hinge u",
                       "svc huberised-hinge u",
                       "svc logistic u",
                       "svc exponential u",
                       "nu-svc  u",
                       "svr epsilon-insensitive u",
                       "svr squared-epsilon-insensitive u",
                       "svr huber u",
                       "svr squared u",
                       "svr pinball u",
                       "nu-svr  u",
                       "one-class  u"};
  // Piecewise quadratic costs; without an equality row only if every variable has bounds.
  const Forms bounded = {"svc hinge upn",
                         "svc squared-hinge u",
                         "svc huberised-hinge upn",
                         "nu-svc  upn",
                         "svr epsilon-insensitive upn",
                         "svr squared-epsilon-insensitive u",
                         "svr huber upn",
                         "svr squared u",
                         "svr pinball upn",
                         "nu-svr  upn",
                         "one-class  u"};
  const Forms quadratic = {"svc hinge upn",
                           "svc squared-hinge upn",
                           "svc huberised-hinge upn",
                           "nu-svc  upn",
                           "svr epsilon-insensitive upn",
                           "svr squared-epsilon-insensitive upn",
                           "svr huber upn",
                           "svr squared upn",
                           "svr pinball upn",
                           "nu-svr  upn",
                           "one-class  u"};
  // One variable at a time, which no equality row allows for.
  const Forms single = {"svc hinge pn",
                        "svc squared-hinge pn",
                        "svc huberised-hinge pn",
                        "svr epsilon-insensitive pn",
                        "svr squared-epsilon-insensitive pn",
                        "svr huber pn",
                        "svr squared pn",
                        "svr pinball pn"};
  const Forms any_loss = {"svc hinge pn",
                          "svc squared-hinge pn",
                          "svc huberised-hinge pn",
                          "svc logistic pn",
                          "svc exponential pn",
                          "svr epsilon-insensitive pn",
                          "svr squared-epsilon-insensitive pn",
                          "svr huber pn",
                          "svr squared pn",
                          "svr pinball pn"};
  const std::map<std::string_view, Forms> table = {
      {Smo::name, bounded},
      {InteriorPoint::name, all},
      {PrimalDual::name, quadratic},
      {Lagrangian::name, {"svc squared-hinge pn", "svr squared-epsilon-insensitive pn"}},
      {GaussSeidel::name, single},
      {Sor::name, single},
      {AdaTron::name, single},
      {Platt::name, pairs},
      {Decomposition::name, all},
      {Chunking::name, all},
      {PrimalNewton::name, all},
      {GradientDescent::name, all},
      {Stochastic::name, any_loss},
      {ReweightedLeastSquares::name, all},
      {MaxMarginPerceptron::name, {"svc squared-hinge upn"}},
      {BayesPoint::name, {"svc squared-hinge pn"}}};
  std::size_t solvers = 0;
  for_each_component<Solver>([&](const auto& solver) {
    ++solvers;
    ASSERT_TRUE(table.contains(solver.name)) << solver.name;
    EXPECT_EQ(forms_of(acceptance_of(solver)), table.at(solver.name)) << solver.name;
  });
  EXPECT_EQ(table.size(), solvers);

  // Those that fit a problem are listed in the order of the list.
  std::vector<std::string> expected, fitting;
  for_each_component<Solver>([&](const auto& solver) {
    for (const std::string& form : table.at(solver.name))
      if (form.starts_with("svc hinge u")) expected.emplace_back(solver.name);
  });
  for (const Solver& each : fitting_solvers(hinge_with_a_bias(30), Stop{}, std::size_t{1} << 40))
    fitting.emplace_back(name_of(each));
  EXPECT_EQ(fitting, expected);
  EXPECT_GE(fitting.size(), 9u);
}

// A formulation that nothing can solve could be asked for and never be answered.
TEST(Acceptance, EveryFormulationHasASolver) {
  std::size_t most = 0;
  for_each_component<Solver>([&](const auto& solver) {
    most = std::max(most, acceptance_of(solver).formulations.size());
    EXPECT_FALSE(acceptance_of(solver).formulations.empty()) << solver.name;
  });
  EXPECT_EQ(most, formulations().size());
}

}  // namespace
}  // namespace maxmargin::acceptance_test
