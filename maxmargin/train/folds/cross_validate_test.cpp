#include "maxmargin/train/folds/cross_validate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "maxmargin/model/predict.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::cross_validate_test {
namespace {

using made::Storage;

TEST(Folds, AreOfEqualSizeAndStratified) {
  std::vector<double> y;
  for (int i = 0; i < 103; ++i) y.push_back(i % 7 == 0 ? 2 : i % 2);
  const Folds folds = make_folds(y.size(), y, {}, Outcome::classes, 5, 1);
  std::map<int, int> size;
  std::map<std::pair<double, int>, int> of_class;
  for (std::size_t i = 0; i < y.size(); ++i) {
    ++size[folds.of_row[i]];
    ++of_class[{y[i], folds.of_row[i]}];
  }
  ASSERT_EQ(size.size(), 5u);
  for (const auto& [fold, count] : size) EXPECT_NEAR(count, 103 / 5.0, 0.9);
  for (const double label : {0.0, 1.0, 2.0}) {
    const auto members = static_cast<double>(std::ranges::count(y, label));
    for (int fold = 0; fold < 5; ++fold) {
      const int count = of_class[{label, fold}];
      EXPECT_LT(std::abs(count - members / 5), 1) << label << " in fold " << fold;
    }
  }
}

TEST(Folds, SpreadNumbersEvenly) {
  std::vector<double> y;
  Rng rng(1);
  for (int i = 0; i < 40; ++i) y.push_back(rng.normal());
  const Folds folds = make_folds(y.size(), y, {}, Outcome::number, 4, 1);
  std::vector<std::size_t> order(y.size());
  for (std::size_t i = 0; i < y.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return y[i]; });
  for (std::size_t k = 0; k < order.size(); k += 4) {
    std::vector<int> seen;
    for (std::size_t j = k; j < k + 4; ++j) seen.push_back(folds.of_row[order[j]]);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
  }
}

TEST(Folds, DependOnTheSeedAloneAndLeaveRowsOfWeightZeroOut) {
  std::vector<double> y(60, 1.0), weight(60, 1.0);
  for (std::size_t i = 0; i < y.size(); i += 2) y[i] = -1;
  const auto folds = [&](std::uint64_t seed) {
    return make_folds(y.size(), y, weight, Outcome::classes, 3, seed).of_row;
  };
  const std::vector<int> first = folds(1);
  EXPECT_EQ(first, folds(1));
  EXPECT_NE(first, folds(2));
  // More rows of weight 0 change nothing for the others.
  y.insert(y.begin() + 10, {1.0, -1.0});
  weight.insert(weight.begin() + 10, {0.0, 0.0});
  std::vector<int> expected = first;
  expected.insert(expected.begin() + 10, {Folds::none, Folds::none});
  EXPECT_EQ(folds(1), expected);
}

TEST(Folds, ThatCannotBeAreRefused) {
  const std::vector<double> y{1, -1, 1};
  EXPECT_THROW(make_folds(3, y, {}, Outcome::classes, 1, 0), Error);
  EXPECT_THROW(make_folds(3, y, {}, Outcome::classes, 4, 0), Error);
  EXPECT_NO_THROW(make_folds(3, y, {}, Outcome::classes, 3, 0));
}

/// Trains on the rows of the other folds, copied out, and compares.
void expect_same_as_by_hand(const Dataset& data, TrainOptions options) {
  options.stop.kkt = 1e-6;
  options.stop.relative_gap = 1e-7;
  options.seed = 5;
  const Threads threads(2);
  const Folds folds = make_folds(data.rows(), data.y, data.weight, outcome_of(options.task), 3, 5);
  const Prepared prepared = prepare(made::copy_of(data), options, threads);
  const OutOfFold judged = judge_out_of_fold(prepared, folds, options, threads);
  const CrossValidated scored = cross_validate(made::copy_of(data), options, 3, threads);
  EXPECT_EQ(scored.folds.of_row, folds.of_row);
  double agreed = 0, squares = 0;
  for (int fold = 0; fold < 3; ++fold) {
    std::vector<Index> others, held_out;
    for (std::size_t i = 0; i < data.rows(); ++i)
      (folds.of_row[i] == fold ? held_out : others).push_back(static_cast<Index>(i));
    const Model model = train(made::chosen(data, others), options, threads).model;
    const Predictor predictor(model);
    const Dataset rest = made::chosen(data, held_out);
    const std::vector<double> f = predictor.decision_values(rest.x, threads);
    const std::size_t machines = model.machines.size();
    ASSERT_EQ(machines, judged.f.size());
    for (std::size_t k = 0; k < held_out.size(); ++k) {
      const std::span<const double> values(&f[k * machines], machines);
      const double predicted = predictor.predict(values);
      for (std::size_t m = 0; m < machines; ++m) {
        const auto& examples = prepared.problems.list[m].examples;
        const auto place = std::ranges::find(examples, held_out[k], &Example::row);
        if (place == examples.end()) continue;
        EXPECT_NEAR(judged.f[m][static_cast<std::size_t>(place - examples.begin())], values[m],
                    1e-4);
      }
      if (std::ranges::all_of(values, [](double v) { return std::abs(v) > 1e-3; })) {
        EXPECT_NEAR(judged.predicted[held_out[k]], predicted, 1e-4);
      }
      EXPECT_EQ(judged.predicted[held_out[k]], scored.predicted[held_out[k]]);
      const double truth = data.y.empty() ? 0 : data.y[held_out[k]];
      squares += (predicted - truth) * (predicted - truth);
      if (!model.classes.empty())
        agreed += model.classes[static_cast<std::size_t>(predicted)] == shortest(truth);
    }
  }
  const auto rows = static_cast<double>(data.rows());
  if (scored.outcome == Outcome::classes) {
    EXPECT_NEAR(scored.accuracy, agreed / rows, 0.02);
  }
  if (scored.outcome == Outcome::number) {
    EXPECT_NEAR(scored.mean_squared_error, squares / rows, 1e-4);
  }
}

TEST(CrossValidate, IsTrainingOnTheOtherFolds) {
  expect_same_as_by_hand(made::classification(90, 4, Storage::dense_doubles, 1),
                         {.task = Svc{.cost = 5}, .kernel = Rbf{1}});
  expect_same_as_by_hand(made::classification(120, 4, Storage::sparse, 2, 4),
                         {.task = Svc{.cost = 5}, .kernel = Rbf{1}});
  expect_same_as_by_hand(
      made::classification(120, 4, Storage::sparse, 3, 3),
      {.task = Svc{.cost = 2, .multiclass = Multiclass::one_vs_rest}, .kernel = Rbf{4}});
  expect_same_as_by_hand(made::regression(90, 4, Storage::dense_floats, 4),
                         {.task = Svr{.cost = 2}, .kernel = Rbf{1}});
}

TEST(CrossValidate, TakesAPrecomputedKernelAndRowsOfWeightZero) {
  const Dataset data = made::classification(60, 3, Storage::dense_doubles, 6);
  TrainOptions options{.task = Svc{.cost = 2}, .kernel = Linear{}};
  Dataset gram;
  gram.y = data.y;
  gram.x = Features::dense(60);
  const Rows x = data.x;
  for (std::size_t i = 0; i < 60; ++i) {
    std::vector<double> row(60, 0.0);
    for (std::size_t j = 0; j < 60; ++j)
      for (std::size_t d = 0; d < 3; ++d) row[j] += x.value(i * 3 + d) * x.value(j * 3 + d);
    gram.x.append(row);
  }
  const CrossValidated plain = cross_validate(made::copy_of(data), options, 4, Threads(1));
  Dataset some = made::copy_of(gram);
  options.kernel = Precomputed{};
  const CrossValidated same = cross_validate(std::move(gram), options, 4, Threads(1));
  EXPECT_EQ(plain.folds.of_row, same.folds.of_row);
  EXPECT_NEAR(plain.accuracy, same.accuracy, 0.02);
  some.weight.assign(60, 1);
  some.weight[7] = 0;
  const CrossValidated without_one = cross_validate(std::move(some), options, 4, Threads(1));
  EXPECT_EQ(without_one.rows, 59);
  EXPECT_TRUE(std::isnan(without_one.predicted[7]));
}

TEST(CrossValidate, AClassThatIsInOneFoldOnlyIsNeverPredictedThere) {
  Dataset data = made::classification(30, 3, Storage::dense_doubles, 8);
  data.y[4] = 9;
  const CrossValidated result = cross_validate(
      made::copy_of(data), {.task = Svc{.cost = 2}, .kernel = Rbf{1}}, 3, Threads(1));
  EXPECT_NE(result.classes[static_cast<std::size_t>(result.predicted[4])], "9");
  // Two rows, two classes: each is predicted by a machine that has seen the other class only.
  const CrossValidated two =
      cross_validate(made::chosen(data, {4, 5}), {.task = Svc{}, .kernel = Rbf{1}}, 2, Threads(1));
  EXPECT_EQ(two.accuracy, 0);
}

TEST(CrossValidate, NumberOfThreadsAndObserverChangeNothing) {
  const Dataset data = made::classification(150, 4, Storage::sparse, 9, 3);
  const TrainOptions options{.task = Svc{.cost = 2}, .kernel = Rbf{1}, .seed = 3};
  const auto run = [&](int threads, const Observer& observer) {
    return cross_validate(made::copy_of(data), options, 5, {Threads(threads), observer}).predicted;
  };
  const std::vector<double> one = run(1, {});
  EXPECT_EQ(one, run(3, [](const Progress&) { return Control::proceed; }));
}

TEST(CrossValidate, EndsWithTheTimeOfItsContext) {
  const Dataset data = made::classification(150, 4, Storage::sparse, 9, 3);
  const TrainOptions options{.task = Svc{.cost = 2}, .kernel = Rbf{1}};
  const Threads threads(1);
  Context none(threads);
  none.seconds = 0;
  EXPECT_EQ(train(made::copy_of(data), options, none).ended, Ended::time_limit);
  EXPECT_EQ(cross_validate(made::copy_of(data), options, 5, none).ended, Ended::time_limit);
  EXPECT_EQ(cross_validate(made::copy_of(data), options, 5, threads).ended, Ended::converged);
}

}  // namespace
}  // namespace maxmargin::cross_validate_test
