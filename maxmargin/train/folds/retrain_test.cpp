#include "maxmargin/train/folds/retrain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "maxmargin/model/predict.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::retrain_test {
namespace {

using made::Storage;

struct Case {
  const char* name;
  Dataset data;
  TrainOptions options;
};

Dataset with_equal_rows(Dataset data) {
  std::vector<Index> rows;
  for (std::size_t i = 0; i < data.rows(); ++i) rows.push_back(static_cast<Index>(i));
  for (Index i = 0; i < 20; ++i) rows.push_back(i / 2);
  return made::chosen(data, rows);
}

std::vector<Case> cases() {
  const auto classes = [](std::uint64_t seed, int count = 2) {
    return with_equal_rows(made::classification(70, 4, Storage::dense_doubles, seed, count));
  };
  const auto numbers = [](std::uint64_t seed) {
    return with_equal_rows(made::regression(60, 4, Storage::sparse, seed));
  };
  std::vector<Case> list;
  list.push_back({"svc", classes(1), {.task = Svc{.cost = 5}, .kernel = Rbf{1}}});
  list.push_back({"weighted svc",
                  classes(2),
                  {.task = Svc{.cost = 5, .class_weights = {{"1", 3}}}, .kernel = Linear{}}});
  list.back().data.weight = made::weights(list.back().data.rows(), 3);
  list.push_back({"four classes", classes(4, 4), {.task = Svc{.cost = 5}, .kernel = Rbf{1}}});
  list.push_back(
      {"one vs rest",
       classes(5, 3),
       {.task = Svc{.cost = 2, .multiclass = Multiclass::one_vs_rest}, .kernel = Rbf{1}}});
  list.push_back({"squared hinge",
                  classes(6),
                  {.task = Svc{.cost = 5, .loss = SquaredHinge{}}, .kernel = Rbf{1}}});
  list.push_back({"nu-svc", classes(7), {.task = NuSvc{.nu = 0.4}, .kernel = Rbf{1}}});
  list.push_back({"svr", numbers(8), {.task = Svr{.cost = 2}, .kernel = Rbf{1}}});
  list.push_back({"nu-svr", numbers(9), {.task = NuSvr{.cost = 2, .nu = 0.4}, .kernel = Rbf{1}}});
  list.push_back({"one-class", numbers(10), {.task = OneClass{.nu = 0.3}, .kernel = Rbf{1}}});
  for (Case& each : list) each.options.stop = {.kkt = 1e-7, .relative_gap = 1e-8};
  return list;
}

std::vector<bool> every(std::size_t rows, std::size_t step, std::size_t first) {
  std::vector<bool> chosen(rows, false);
  for (std::size_t i = first; i < rows; i += step) chosen[i] = true;
  return chosen;
}

Retrainable can(const Prepared& prepared, const TrainOptions& options) {
  return retrainable(prepared, options, 5, Threads(1)).value();
}
Retrainer retrainer_of(const Prepared& prepared, const TrainOptions& options,
                       const Threads& threads) {
  return Retrainer(prepared, can(prepared, options), options, threads);
}

/// The same machines, certified the same, with coefficients of the same rows.
void expect_same(const Retrained& near, const Retrained& afresh, const std::vector<bool>& left_out,
                 const Stop& stop) {
  EXPECT_EQ(near.ended, Ended::converged);
  ASSERT_EQ(near.number, afresh.number);
  for (std::size_t k = 0; k < near.machines.size(); ++k) {
    const Certificate& certificate = near.machines[k].certified.certificate;
    const Certificate& other = afresh.machines[k].certified.certificate;
    EXPECT_LE(certificate.kkt, stop.kkt);
    EXPECT_LE(certificate.relative_gap, stop.relative_gap);
    EXPECT_LE(certificate.bound_residual, 0);
    EXPECT_LE(certificate.equality_residual, 1e-12);
    EXPECT_NEAR(certificate.dual, other.dual, 2e-8 * std::abs(other.dual));
    EXPECT_NEAR(certificate.primal, other.primal, 2e-8 * std::abs(other.primal));
    std::map<Index, double> expected;
    for (const auto& [row, coefficient] : afresh.machines[k].coefficients)
      expected[row] = coefficient;
    for (const auto& [row, coefficient] : near.machines[k].coefficients) {
      EXPECT_FALSE(left_out[row]);
      EXPECT_NEAR(coefficient, expected[row], 1e-4) << "of row " << row;
      expected.erase(row);
    }
    for (const auto& [row, coefficient] : expected) EXPECT_NEAR(coefficient, 0, 1e-4);
  }
}

TEST(Retrainer, FindsTheMachinesThatTrainingAfreshFinds) {
  for (Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const Threads threads(2);
    const std::size_t rows = each.data.rows();
    const Prepared prepared = prepare(std::move(each.data), each.options, threads);
    ASSERT_TRUE(retrainable(prepared, each.options, 5, threads));
    const Retrainer retrainer = retrainer_of(prepared, each.options, threads);
    const auto afresh = [&](const std::vector<bool>& left_out) {
      return train_afresh(prepared, left_out, each.options, threads);
    };
    const std::vector<bool> fifth = every(rows, 5, 1);
    const Retrained rest = retrainer.without(fifth, each.options, threads);
    expect_same(rest, afresh(fifth), fifth, each.options.stop);
    std::vector<bool> more = fifth;
    for (std::size_t i = 0; i < rows; i += 3) more[i] = true;
    expect_same(retrainer.without(more, each.options, threads, &rest), afresh(more), more,
                each.options.stop);
  }
}

/// f at all rows is that of the model, up to `tolerance`.
void expect_known(std::vector<Case> list, double tolerance) {
  for (Case& each : list) {
    SCOPED_TRACE(each.name);
    const Threads threads(1);
    const Dataset data = made::copy_of(each.data);
    const Prepared prepared = prepare(std::move(each.data), each.options, threads);
    if (prepared.problems.list.size() > 1) continue;
    const Retrainer retrainer = retrainer_of(prepared, each.options, threads);
    const Retrained rest = retrainer.without(every(data.rows(), 4, 2), each.options, threads);
    const Model model =
        put_together(prepared, rest.problems, each.options, rest.machines, threads).model;
    const std::vector<double> f = Predictor(model).decision_values(data.x, threads);
    const std::vector<double> known = retrainer.values(rest, 0);
    ASSERT_EQ(f.size(), known.size());
    for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(known[i], f[i], tolerance) << i;
  }
}

TEST(Retrainer, KnowsFAtTheRowsThatWereLeftOut) { expect_known(cases(), 1e-5); }

TEST(Retrainer, KnowsFOfTheSolverWhereNothingIsCertified) {
  std::vector<Case> list = cases();
  for (Case& each : list) {
    each.options.stop = {.kkt = 1e-3, .relative_gap = 1e9};
    each.options.certified = false;
  }
  expect_known(std::move(list), 1e-5);
}

TEST(Retrainer, AnswersWithTheSameBitsForAnyNumberOfThreads) {
  for (Case& each : cases()) {
    SCOPED_TRACE(each.name);
    const std::vector<bool> left_out = every(each.data.rows(), 5, 3);
    std::vector<std::vector<double>> first;
    const Prepared prepared = prepare(std::move(each.data), each.options, Threads(1));
    for (const int count : {1, 3}) {
      const Threads threads(count);
      const Retrainer retrainer = retrainer_of(prepared, each.options, threads);
      const Retrained rest = retrainer.without(left_out, each.options, threads);
      std::vector<std::vector<double>> f;
      for (std::size_t k = 0; k < rest.machines.size(); ++k)
        f.push_back(rest.machines[k].certified.f);
      if (first.empty()) first = f;
      EXPECT_EQ(f, first);
    }
  }
}

TEST(Retrainer, TrainsTheFoldsOfOneMachineAfterAnotherToTheSameBits) {
  for (Case& each : cases()) {
    SCOPED_TRACE(each.name);
    std::vector<std::vector<bool>> left_out;
    for (std::size_t fold = 0; fold < 4; ++fold)
      left_out.push_back(every(each.data.rows(), 4, fold));
    const Prepared prepared = prepare(std::move(each.data), each.options, Threads(1));
    const Retrainer retrainer = retrainer_of(prepared, each.options, Threads(1));
    for (const int count : {1, 2}) {
      const std::vector<Retrained> folds = retrain_each(prepared, can(prepared, each.options),
                                                        left_out, each.options, Threads(count));
      const std::vector<Retrained> side_by_side =
          retrainer.without_each(left_out, each.options, Threads(count));
      ASSERT_EQ(folds.size(), left_out.size());
      ASSERT_EQ(side_by_side.size(), left_out.size());
      for (std::size_t fold = 0; fold < folds.size(); ++fold) {
        const Retrained one = retrainer.without(left_out[fold], each.options, Threads(1));
        const Retrained& beside = side_by_side[fold];
        ASSERT_EQ(beside.machines.size(), one.machines.size());
        for (std::size_t k = 0; k < one.machines.size(); ++k)
          EXPECT_EQ(beside.machines[k].certified.f, one.machines[k].certified.f);
        ASSERT_EQ(folds[fold].number, one.number);
        EXPECT_EQ(folds[fold].iterations, one.iterations);
        for (std::size_t k = 0; k < one.machines.size(); ++k)
          EXPECT_EQ(folds[fold].machines[k].coefficients, one.machines[k].coefficients);
      }
    }
  }
}

TEST(Retrainer, MachinesThatLoseNoRowStayAsTheyAre) {
  const TrainOptions options{.task = Svc{.cost = 2}, .kernel = Rbf{1}};
  const Prepared prepared =
      prepare(made::classification(60, 3, Storage::sparse, 1, 3), options, Threads(1));
  const Retrainer retrainer = retrainer_of(prepared, options, Threads(1));
  std::vector<bool> left_out(60, false);
  left_out[7] = true;
  const Retrained rest = retrainer.without(left_out, options, Threads(1));
  ASSERT_EQ(rest.machines.size(), 3u);
  int same = 0;
  for (std::size_t k = 0; k < 3; ++k)
    same += rest.machines[k].certified.f == retrainer.whole()[k].certified.f;
  EXPECT_GE(same, 1);  // the pair of the other two classes
  EXPECT_EQ(rest.machines.size(), rest.number.size());
}

TEST(Retrainer, LeavesToOthersWhatItCannotDo) {
  const auto takes = [](const TrainOptions& options, std::size_t folds) {
    const Prepared prepared =
        prepare(made::classification(30, 3, Storage::sparse, 1), options, Threads(1));
    return retrainable(prepared, options, folds, Threads(1)).has_value();
  };
  EXPECT_TRUE(takes({.task = Svc{}, .kernel = Rbf{1}}, 5));
  EXPECT_FALSE(takes({.task = Svc{}, .kernel = Rbf{1}}, 2));
  EXPECT_FALSE(takes({.task = Svc{.hard_margin = true}, .kernel = Rbf{1}}, 5));
  EXPECT_FALSE(takes({.task = Svc{}, .kernel = Rbf{1}, .solver = "interior-point"}, 5));
  EXPECT_FALSE(takes({.task = Svc{.loss = Logistic{}}, .kernel = Rbf{1}}, 5));
}

}  // namespace
}  // namespace maxmargin::retrain_test
