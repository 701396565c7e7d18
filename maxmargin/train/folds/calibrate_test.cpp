#include "maxmargin/train/folds/calibrate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::calibrate_test {
namespace {

/// Minus the log-likelihood of softened targets, by its definition.
double misfit(std::span<const double> f, std::span<const double> target,
              std::span<const double> weight, const PlattSigmoid& sigmoid) {
  double up = 0, down = 0, sum = 0;
  for (std::size_t i = 0; i < f.size(); ++i) (target[i] > 0 ? up : down) += weight[i];
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double t = target[i] > 0 ? (up + 1) / (up + 2) : 1 / (down + 2);
    const double p = 1 / (1 + std::exp(sigmoid.slope * f[i] + sigmoid.offset));
    sum -= weight[i] * (t * std::log(p) + (1 - t) * std::log(1 - p));
  }
  return sum;
}

struct Values {
  std::vector<double> f, target, weight;
};
Values made_values(std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  Values values;
  for (std::size_t i = 0; i < rows; ++i) {
    values.f.push_back(2 * rng.normal());
    const double p = 1 / (1 + std::exp(-1.5 * values.f.back() + 0.4));
    values.target.push_back(rng.uniform() < p ? 1 : -1);
    values.weight.push_back(static_cast<double>(1 + rng.below(3)));
  }
  return values;
}

TEST(FitSigmoid, NoOtherSigmoidFitsBetter) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto [f, target, weight] = made_values(5 + 10 * seed, seed);
    const PlattSigmoid best = fit_sigmoid(f, target, weight);
    const double least = misfit(f, target, weight, best);
    for (const double slope : {-1e-3, 0.0, 1e-3})
      for (const double offset : {-1e-3, 0.0, 1e-3})
        EXPECT_GE(misfit(f, target, weight, {best.slope + slope, best.offset + offset}),
                  least - 1e-9);
  }
}

TEST(FitSigmoid, FindsTheSigmoidThatTargetsWereDrawnFrom) {
  const auto [f, target, weight] = made_values(20000, 7);
  const PlattSigmoid found = fit_sigmoid(f, target);
  EXPECT_NEAR(found.slope, -1.5, 0.06);
  EXPECT_NEAR(found.offset, 0.4, 0.06);
}

TEST(FitSigmoid, ARowOfWeightThreeIsThreeRows) {
  const auto [f, target, weight] = made_values(40, 3);
  std::vector<double> each_f, each_target;
  for (std::size_t i = 0; i < f.size(); ++i)
    for (int copy = 0; copy < weight[i]; ++copy) {
      each_f.push_back(f[i]);
      each_target.push_back(target[i]);
    }
  const PlattSigmoid weighted = fit_sigmoid(f, target, weight, 1e-9);
  const PlattSigmoid repeated = fit_sigmoid(each_f, each_target, {}, 1e-9);
  EXPECT_NEAR(weighted.slope, repeated.slope, 1e-7);
  EXPECT_NEAR(weighted.offset, repeated.offset, 1e-7);
}

TEST(FitSigmoid, SurvivesClassesThatAreFarApartAndOneClassAlone) {
  const PlattSigmoid apart =
      fit_sigmoid(std::vector<double>{-1e6, -1e6, 1e6, 1e6}, std::vector<double>{-1, -1, 1, 1});
  EXPECT_LT(apart.slope, 0);
  EXPECT_NEAR(apart(1e6), 0.75, 1e-4);  // (2 + 1) / (2 + 2)
  const PlattSigmoid alone = fit_sigmoid(std::vector<double>{1, 2}, std::vector<double>{1, 1});
  EXPECT_GT(alone(1.5), 0.5);
  EXPECT_TRUE(std::isfinite(alone.slope));
}

/// One feature x in [-2, 2]; of class +1 with probability 1 / (1 + exp(-2 x)).
Dataset logistic(std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  Dataset data;
  data.x = Features::dense(1);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.uniform(-2, 2);
    data.x.append(std::vector<double>{x});
    data.y.push_back(rng.uniform() < 1 / (1 + std::exp(-2 * x)) ? 1 : -1);
  }
  return data;
}

TEST(Calibrate, ProbabilitiesAreThoseTheClassesWereDrawnWith) {
  TrainOptions options;
  options.task = Svc{.cost = 1};
  options.kernel = Linear{};
  options.probability_folds = 5;
  const Trained trained = train(logistic(1500, 1), options, Threads(2));
  const Predictor predictor(trained.model);
  const auto up = static_cast<std::size_t>(trained.model.machines[0].positive);
  Features grid = Features::dense(1);
  for (int k = -8; k <= 8; ++k) grid.append(std::vector<double>{k / 4.0});
  const std::vector<double> f = predictor.decision_values(grid, Threads(1));
  for (int k = -8; k <= 8; ++k) {
    const std::vector<double> p = predictor.probabilities({&f[static_cast<std::size_t>(k + 8)], 1});
    EXPECT_NEAR(p[up], 1 / (1 + std::exp(-k / 2.0)), 0.06) << k / 4.0;
  }
}

TEST(Calibrate, WeightsOfRowsAndClassesCountAsRows) {
  const Dataset data = logistic(200, 2);
  std::vector<Index> repeated;
  for (std::size_t i = 0; i < data.rows(); ++i)
    for (int copy = 0; copy < (data.y[i] > 0 ? 3 : 1); ++copy)
      repeated.push_back(static_cast<Index>(i));
  TrainOptions options;
  options.kernel = Rbf{1};
  const auto calibrated = [&](Dataset rows, const Task& task, std::vector<int> fold) {
    options.task = task;
    const Prepared prepared = prepare(std::move(rows), options, Threads(1));
    const OutOfFold judged =
        judge_out_of_fold(prepared, Folds{2, std::move(fold)}, options, Threads(1));
    return calibrate(prepared, judged, task, 2).sigmoid.at(0);
  };
  options.stop.kkt = options.stop.relative_gap = 1e-7;
  std::vector<int> fold, fold_of_repeated;
  for (std::size_t i = 0; i < data.rows(); ++i) fold.push_back(static_cast<int>(i % 2));
  for (const Index row : repeated) fold_of_repeated.push_back(fold[row]);
  const PlattSigmoid copies =
      calibrated(made::chosen(data, repeated), Svc{.cost = 0.7}, fold_of_repeated);
  const PlattSigmoid classes =
      calibrated(made::copy_of(data), Svc{.cost = 0.7, .class_weights = {{"1", 3}}}, fold);
  Dataset weighted = made::copy_of(data);
  for (const double y : data.y) weighted.weight.push_back(y > 0 ? 3 : 1);
  const PlattSigmoid rows = calibrated(std::move(weighted), Svc{.cost = 0.7}, fold);
  EXPECT_NEAR(copies.slope, classes.slope, 1e-4);
  EXPECT_NEAR(copies.offset, classes.offset, 1e-4);
  EXPECT_NEAR(copies.slope, rows.slope, 1e-4);
  EXPECT_NEAR(copies.offset, rows.offset, 1e-4);
}

TEST(Calibrate, IntervalsHoldAsManyNewRowsAsTheySay) {
  TrainOptions options;
  options.task = Svr{.cost = 1, .loss = EpsilonInsensitive{0.1}};
  options.kernel = Rbf{1};
  options.probability_folds = 5;
  const Model model =
      train(made::regression(600, 2, made::Storage::dense_doubles, 1), options, Threads(2)).model;
  const Dataset fresh = made::regression(2000, 2, made::Storage::dense_doubles, 2);
  const std::vector<double> f = Predictor(model).decision_values(fresh.x, Threads(2));
  for (const double level : {0.5, 0.9}) {
    const auto [lower, upper] = model.calibration.interval(level);
    double held = 0;
    for (std::size_t i = 0; i < f.size(); ++i)
      held += f[i] + lower <= fresh.y[i] && fresh.y[i] <= f[i] + upper;
    EXPECT_NEAR(held / 2000, level, 0.04);
  }
  // The noise is normal with deviation 0.2: mean size 0.16.
  EXPECT_NEAR(model.calibration.noise, 0.16, 0.02);
}

TEST(Calibrate, PValuesOfNewNormalRowsAreUniform) {
  TrainOptions options;
  options.task = OneClass{.nu = 0.1};
  options.kernel = Rbf{0.5};
  options.probability_folds = 5;
  const auto cloud = [](std::size_t rows, std::uint64_t seed) {
    Rng rng(seed);
    Dataset data;
    data.x = Features::dense(2);
    for (std::size_t i = 0; i < rows; ++i)
      data.x.append(std::vector<double>{rng.normal(), rng.normal()});
    return data;
  };
  // Over several samples: one of them alone may happen to be wider than its distribution.
  constexpr int samples = 10;
  for (const double level : {0.02, 0.05, 0.2}) {
    double below = 0;
    for (std::uint64_t k = 0; k < samples; ++k) {
      const Model model = train(cloud(300, 10 + k), options, Threads(2)).model;
      for (const double f : Predictor(model).decision_values(cloud(1000, 50 + k).x, Threads(2)))
        below += model.calibration.p_value(f) <= level;
    }
    EXPECT_NEAR(below / (1000 * samples), level, 0.03);
  }
}

TEST(Calibrate, NumberOfThreadsChangesNoBitAndTheSeedTheFolds) {
  const Dataset classes = made::classification(90, 3, made::Storage::sparse, 1, 3);
  const Dataset numbers = made::regression(60, 3, made::Storage::dense_doubles, 2);
  const auto expect_repeatable = [](const Dataset& data, const Task& task) {
    TrainOptions options{.task = task, .kernel = Rbf{2}};
    options.probability_folds = 5;
    options.seed = 1;
    const auto trained = [&](int threads) {
      return train(made::copy_of(data), options, Threads(threads)).model;
    };
    const Model one = trained(1);
    EXPECT_EQ(digest(one), digest(trained(3)));
    options.seed = 2;
    const Model other = trained(1);
    EXPECT_NE(digest(one), digest(other));
    EXPECT_EQ(one.machines[0].coefficient, other.machines[0].coefficient);
  };
  expect_repeatable(classes, Svc{.cost = 2});
  expect_repeatable(classes, NuSvc{.nu = 0.4});
  expect_repeatable(numbers, Svr{.cost = 2});
  expect_repeatable(numbers, NuSvr{.cost = 2, .nu = 0.4});
  expect_repeatable(numbers, OneClass{.nu = 0.3});
}

// Sharing between folds may move decision values within the tolerance, and no more.
TEST(Calibrate, IsThatOfFoldsThatAreTrainedAfresh) {
  const Dataset data = logistic(150, 3);
  TrainOptions options{.task = Svc{.cost = 1}, .kernel = Rbf{1}};
  options.stop = {.kkt = 1e-7, .relative_gap = 1e-8};
  options.probability_folds = 5;
  const Model model = train(made::copy_of(data), options, Threads(1)).model;
  const Folds folds = make_folds(150, data.y, {}, Outcome::classes, 5, options.seed);
  std::vector<double> f(150), target;
  for (int fold = 0; fold < 5; ++fold) {
    std::vector<Index> others, held_out;
    for (std::size_t i = 0; i < 150; ++i)
      (folds.holds(fold, i) ? held_out : others).push_back(static_cast<Index>(i));
    TrainOptions plain = options;
    plain.probability_folds = 0;
    const Model rest = train(made::chosen(data, others), plain, Threads(1)).model;
    const auto values = Predictor(rest).decision_values(made::chosen(data, held_out).x, Threads(1));
    for (std::size_t k = 0; k < held_out.size(); ++k) f[held_out[k]] = values[k];
  }
  const auto up = model.classes[static_cast<std::size_t>(model.machines[0].positive)];
  for (const double y : data.y) target.push_back(shortest(y) == up ? 1 : -1);
  const PlattSigmoid expected = fit_sigmoid(f, target);
  EXPECT_NEAR(model.calibration.sigmoid.at(0).slope, expected.slope, 1e-4);
  EXPECT_NEAR(model.calibration.sigmoid.at(0).offset, expected.offset, 1e-4);
}

}  // namespace
}  // namespace maxmargin::calibrate_test
