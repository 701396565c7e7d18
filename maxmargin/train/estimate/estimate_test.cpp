// Estimates against leave-one-out by force: a bound that is exceeded is a failure.
#include "maxmargin/train/estimate/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/made_data.hpp"

namespace maxmargin::estimate_test {
namespace {

using made::Storage;

TrainOptions tight(Task task, Kernel kernel) {
  TrainOptions options{.task = std::move(task), .kernel = std::move(kernel)};
  options.stop.kkt = 1e-7;
  options.stop.relative_gap = 1e-7;
  return options;
}

Estimates estimated(const Dataset& data, const TrainOptions& options, bool truth = true) {
  const Model model = train(made::copy_of(data), options, Threads(1)).model;
  EstimateOptions asked;
  asked.stop = options.stop;
  asked.restarts = true;
  asked.truth = truth;
  return estimate(model, made::copy_of(data), asked, Threads(1));
}

TEST(Estimate, BoundsHoldOnAHundredProblems) {
  int tighter = 0;
  std::size_t followed = 0, trained = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Dataset data =
        made::classification(24 + seed % 17, 2 + seed % 3, Storage::dense_doubles, 100 + seed);
    const Bias bias = seed % 4 == 3 ? Bias::none : Bias::unpenalised;
    const Kernel kernel = seed % 3 == 0   ? Kernel(Linear{})
                          : seed % 3 == 1 ? Kernel(Rbf{1.0})
                                          : Kernel(Polynomial{.gamma = 1, .degree = 2, .coef0 = 1});
    const double cost = std::pow(10, static_cast<double>(seed % 5) - 2);
    const Estimates found = estimated(data, tight(Svc{.cost = cost, .bias = bias}, kernel));
    ASSERT_TRUE(found.truth && found.restarted && found.support_share) << seed;
    EXPECT_LE(found.truth->error, *found.support_share + 1e-12) << seed;
    ASSERT_TRUE(found.xi_alpha && found.radius_margin) << seed;
    EXPECT_LE(found.truth->error, *found.xi_alpha + 1e-12) << seed;
    EXPECT_LE(found.truth->error, *found.radius_margin + 1e-12) << seed;
    tighter += *found.xi_alpha < *found.support_share;
    // A row on the boundary may fall on either side of it.
    EXPECT_NEAR(found.restarted->error, found.truth->error, 1.5 / data.rows()) << seed;
    EXPECT_LE(found.restarted->trained, found.truth->trained) << seed;
    followed += found.restarted->followed;
    trained += found.restarted->trained;
  }
  EXPECT_GT(tighter, 10);
  EXPECT_GT(followed, trained / 3);
}

TEST(Estimate, OfATubeBoundsItsAbsoluteError) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset data = made::regression(25, 2, Storage::dense_doubles, 200 + seed);
    const Estimates found =
        estimated(data, tight(Svr{.cost = std::pow(10, static_cast<double>(seed % 3)),
                                  .loss = EpsilonInsensitive{0.1}},
                              Rbf{1.0}));
    if (found.radius_margin) {
      EXPECT_LE(found.truth->absolute_error, *found.radius_margin + 1e-9) << seed;
    }
    EXPECT_NEAR(found.restarted->error, found.truth->error, 1e-4 * found.truth->error) << seed;
  }
}

TEST(Estimate, BySpanIsNearTheTruthAndExactWhereNothingIsBounded) {
  const Dataset data = made::classification(150, 3, Storage::dense_doubles, 11);
  const Estimates found = estimated(data, tight(Svc{.cost = 1}, Rbf{2.0}));
  ASSERT_TRUE(found.span);
  EXPECT_NEAR(*found.span, found.truth->error, 0.1 * found.truth->error + 1.5 / 150);
  // Least squares keep every variable free: leave-one-out of kernel ridge regression.
  const Dataset numbers = made::regression(40, 2, Storage::dense_doubles, 12);
  const Estimates ridge = estimated(numbers, tight(Svr{.cost = 2, .loss = Squared{}}, Rbf{1.0}));
  ASSERT_TRUE(ridge.span);
  EXPECT_NEAR(*ridge.span, ridge.truth->error, 1e-5 * ridge.truth->error);
  EXPECT_NEAR(*ridge.span_absolute, ridge.truth->absolute_error, 1e-5);
}

TEST(Estimate, OfSeveralClassesNuAndNoveltyByRestarts) {
  const Dataset three = made::classification(60, 3, Storage::dense_doubles, 13, 3);
  for (const Task& task :
       std::vector<Task>{Svc{.cost = 2}, NuSvc{.nu = 0.3}, OneClass{.nu = 0.3}}) {
    const Estimates found = estimated(three, tight(task, Rbf{1.0}));
    ASSERT_TRUE(found.restarted && found.truth);
    EXPECT_NEAR(found.restarted->error, found.truth->error, 1.5 / 60) << name_of(task);
    EXPECT_FALSE(found.missing.empty());
  }
}

TEST(Estimate, EqualRowsAndWeightsAreCounted) {
  Dataset data = made::classification(50, 2, Storage::dense_doubles, 14);
  const Features copy = [&] {
    Features x = Features::dense(2);
    x.append(data.x.view());
    return x;
  }();
  data.x.append(copy.view());
  const std::vector<double> labels = data.y;
  data.y.insert(data.y.end(), labels.begin(), labels.end());
  const Estimates twice = estimated(data, tight(Svc{.cost = 0.5}, Rbf{1.0}));
  ASSERT_TRUE(twice.span && twice.xi_alpha);
  EXPECT_LE(twice.truth->error, *twice.xi_alpha + 1e-12);
  EXPECT_NEAR(twice.restarted->error, twice.truth->error, 1.5 / 100);
  EXPECT_NEAR(*twice.span, twice.truth->error, 0.1 * twice.truth->error + 2.5 / 100);
}

TEST(Estimate, WhatThereIsNoTimeForIsMissing) {
  const Dataset data = made::classification(60, 3, Storage::dense_doubles, 2);
  const Model model = train(made::copy_of(data), tight(Svc{}, Rbf{1}), Threads(1)).model;
  EstimateOptions asked;
  asked.restarts = asked.truth = true;
  const Threads threads(2);
  // However often it may go on: what is there is the truth, what is not is said.
  const Estimates whole = estimate(model, made::copy_of(data), asked, threads);
  for (const int times : {0, 1, 2, 5}) {
    int left = times;
    const Observer observer = [&](const Progress&) {
      return left-- > 0 ? Control::proceed : Control::cancel;
    };
    const Estimates found = estimate(model, made::copy_of(data), asked, {threads, observer});
    if (found.ended != Ended::cancelled) continue;
    EXPECT_TRUE(std::isnan(found.training_error) || found.training_error == whole.training_error);
    EXPECT_TRUE(times > 0 || std::isnan(found.training_error));
    EXPECT_TRUE(found.span ? std::abs(*found.span - *whole.span) < 1e-9 : !found.missing.empty());
  }
}

TEST(Estimate, RefusesOtherDataAndModelsWithoutDualVariables) {
  const Dataset data = made::classification(60, 3, Storage::dense_doubles, 15);
  const Dataset other = made::classification(60, 3, Storage::dense_doubles, 16);
  const TrainOptions options = tight(Svc{}, Rbf{1.0});
  const Model model = train(made::copy_of(data), options, Threads(1)).model;
  EXPECT_THROW(estimate(model, made::copy_of(other), {}, Threads(1)), Error);
  TrainOptions low = options;
  low.approximate = Approximate{.rank = 10};
  const Model basis = train(made::copy_of(data), low, Threads(1)).model;
  EXPECT_THROW(estimate(basis, made::copy_of(data), {}, Threads(1)), Error);
}

}  // namespace
}  // namespace maxmargin::estimate_test
