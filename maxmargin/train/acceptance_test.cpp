#include "maxmargin/train/acceptance.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace maxmargin {
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
      losses = Named<std::remove_cvref_t<decltype(task.loss)>>::values.size();
    if constexpr (requires { task.bias; }) biases = Named<Bias>::values.size();
    expected += losses * biases;
  });
  EXPECT_EQ(all.size(), expected);
}

TEST(Acceptance, IsWhatTheMethodsAreMadeFor) {
  const Acceptance smo = acceptance_of(Smo{});
  EXPECT_TRUE(accepts(smo, "svc", "hinge", Bias::unpenalised));
  EXPECT_TRUE(accepts(smo, "nu-svr", "", Bias::unpenalised));
  EXPECT_FALSE(accepts(smo, "svc", "hinge", Bias::none));
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
  for (const Acceptance& all : {acceptance_of(Decomposition{}), acceptance_of(Chunking{}),
                                acceptance_of(PrimalNewton{}), acceptance_of(GradientDescent{})}) {
    EXPECT_EQ(all.formulations.size(), formulations().size());
    EXPECT_TRUE(all.indefinite.empty());
    EXPECT_TRUE(all.any_rows);
  }
  const Acceptance stochastic = acceptance_of(Stochastic{});
  EXPECT_TRUE(accepts(stochastic, "svc", "hinge", Bias::penalised));
  EXPECT_FALSE(accepts(stochastic, "svc", "hinge", Bias::unpenalised));
  EXPECT_FALSE(stochastic.any_rows);
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
}  // namespace maxmargin
