// verify of nu-SVC and nu-SVR: what train() makes must hold, and no forgery may.
#include <gtest/gtest.h>

#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::examine_test {
namespace {

using made::Storage;

/// Every fifth row is an earlier one again, with its own label: points with several variables.
Dataset with_repetitions(Dataset data, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Index> which(data.rows());
  for (std::size_t i = 0; i < which.size(); ++i)
    which[i] = static_cast<Index>(i % 5 == 4 ? rng.below(i) : i);
  Dataset result = made::chosen(data, which);
  result.y = data.y;
  return result;
}

Trained trained(const Dataset& data, TrainOptions options, double tolerance) {
  options.stop.kkt = tolerance;
  options.stop.relative_gap = 1;
  return train(made::copy_of(data), options, Threads(1));
}

void expect_holds(const Dataset& data, const TrainOptions& options) {
  for (const double tolerance : {1e-7, 1e-3, 0.3}) {
    const Trained result = trained(data, options, tolerance);
    for (const Verified& found : verify(result.model, data, Threads(2)))
      EXPECT_TRUE(found.holds) << found.reason << ", tolerance " << tolerance;
  }
}

TEST(VerifyNu, WhatTrainMakesHolds) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const double nu : {0.5, 0.7}) {
      const Dataset classes =
          with_repetitions(made::classification(60, 3, Storage::dense_doubles, seed), seed);
      expect_holds(classes, {.task = NuSvc{.nu = nu}, .kernel = Rbf{2}});
      const Dataset numbers =
          with_repetitions(made::regression(60, 3, Storage::sparse, seed), seed);
      expect_holds(numbers, {.task = NuSvr{.cost = 3, .nu = nu}, .kernel = Rbf{1}});
      expect_holds(numbers, {.task = NuSvr{.cost = 20, .nu = nu}, .kernel = Rbf{20}});
    }
  }
}

TEST(VerifyNu, WeightsScalingAndSeveralClassesHold) {
  Dataset classes = made::classification(90, 3, Storage::dense_doubles, 7, 3);
  classes.weight = made::weights(90, 8);
  classes.weight[5] = 0;
  for (const Multiclass multiclass : {Multiclass::one_vs_one, Multiclass::one_vs_rest})
    expect_holds(classes, {.task = NuSvc{.nu = 0.2,
                                         .multiclass = multiclass,
                                         .class_weights = {{"1", 1.5}, {"3", 0.8}}},
                           .kernel = Rbf{2},
                           .scaling = ScalingKind::range});
  Dataset numbers = made::regression(60, 3, Storage::dense_floats, 9);
  numbers.weight = made::weights(60, 10);
  expect_holds(numbers, {.task = NuSvr{.cost = 2, .nu = 0.5}, .kernel = Linear{}});
}

TEST(VerifyNu, AnUnfinishedModelHoldsWithItsHonestGap) {
  const Dataset data = made::classification(80, 3, Storage::dense_doubles, 11);
  for (const Task& task : {Task(NuSvc{.nu = 0.3}), Task(NuSvr{.cost = 5, .nu = 0.3})}) {
    TrainOptions options{.task = task, .kernel = Rbf{2}};
    options.stop.iterations = 3;
    const Trained result = trained(data, options, 1e-6);
    EXPECT_EQ(result.ended, Ended::iteration_limit);
    const Verified found = verify(result.model, data, Threads(1)).at(0);
    EXPECT_TRUE(found.holds) << found.reason;
  }
}

TEST(VerifyNu, EveryForgeryIsFound) {
  const Dataset data = made::classification(60, 3, Storage::dense_doubles, 12);
  for (const Task& task : {Task(NuSvc{.nu = 0.4}), Task(NuSvr{.cost = 2, .nu = 0.4})}) {
    Model model = trained(data, {.task = task, .kernel = Rbf{1}}, 1e-6).model;
    Machine& machine = model.machines[0];
    const auto refused = [&](double& number, double forged) {
      const double honest = std::exchange(number, forged);
      const bool holds = verify(model, data, Threads(1)).at(0).holds;
      number = honest;
      return !holds;
    };
    EXPECT_TRUE(verify(model, data, Threads(1)).at(0).holds);
    EXPECT_TRUE(refused(machine.width, machine.width * 1.1));
    EXPECT_TRUE(refused(machine.lambda[0], machine.lambda[0] + 0.1));
    EXPECT_TRUE(refused(machine.coefficient[0], machine.coefficient[0] * 0.5));
    EXPECT_TRUE(refused(machine.coefficient[0], -machine.coefficient[0]));
    EXPECT_TRUE(refused(machine.certificate.primal, machine.certificate.primal * 0.9 - 0.1));
    EXPECT_TRUE(refused(machine.certificate.dual, machine.certificate.dual * 1.1 + 0.1));
    std::visit(
        [](auto& forged) {
          if constexpr (requires { forged.nu; }) forged.nu = 0.41;
        },
        *model.task);
    EXPECT_FALSE(verify(model, data, Threads(1)).at(0).holds);
  }
}

}  // namespace
}  // namespace maxmargin::examine_test
