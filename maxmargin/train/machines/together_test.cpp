// Crammer-Singer and the linear-programming machine from data to a verified model.
#include "maxmargin/train/machines/together.hpp"

#include <gtest/gtest.h>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::together_test {
namespace {

using made::Storage;

Svc together(double cost, Bias bias = Bias::none) {
  return {.cost = cost, .bias = bias, .multiclass = Multiclass::crammer_singer};
}

Model reloaded(const Model& model) {
  const std::string bytes = to_bytes(model);
  return from_bytes(std::as_bytes(std::span(bytes)), "memory");
}

void expect_verified(const Model& model, const Dataset& data) {
  for (const Verified& machine : verify(reloaded(model), data, Threads(1)))
    EXPECT_TRUE(machine.holds) << machine.reason;
}

double accuracy(const Model& model, const Dataset& data) {
  const Predictor predictor(model);
  const std::vector<double> f = predictor.decision_values(data.x, Threads(1));
  const Classes classes = classes_of(data);
  const std::size_t machines = model.machines.size();
  double right = 0;
  for (std::size_t i = 0; i < data.rows(); ++i)
    right += predictor.predict({&f[i * machines], machines}) == classes.of_row[i];
  return right / static_cast<double>(data.rows());
}

TEST(Together, TrainsPredictsAndIsVerified) {
  for (const int classes : {2, 3, 5}) {
    Dataset data = made::classification(120, 3, Storage::dense_doubles, 1, classes);
    for (const Kernel& kernel : {Kernel(Rbf{2.0}), Kernel(Linear{})})
      for (const Bias bias : {Bias::none, Bias::penalised}) {
        TrainOptions options{.task = together(3, bias), .kernel = kernel};
        options.stop = {1e-5, 1e-5};
        const Trained trained = train(made::copy_of(data), options, Threads(2));
        EXPECT_EQ(trained.ended, Ended::converged);
        EXPECT_LE(trained.certificate.relative_gap, 1e-5);
        EXPECT_NEAR(trained.certificate.gap, trained.certificate.primal - trained.certificate.dual,
                    1e-6 * trained.certificate.primal);
        ASSERT_EQ(trained.model.machines.size(), static_cast<std::size_t>(classes));
        expect_verified(trained.model, data);
        EXPECT_GT(accuracy(trained.model, data), 1.2 / classes);
        EXPECT_EQ(reloaded(trained.model).multiclass, Multiclass::crammer_singer);
      }
  }
}

TEST(Together, OfTwoClassesIsTheBinaryMachineOfHalfTheNorm) {
  // w_1 = -w_2 = w/2: |w_1|^2 + |w_2|^2 = |w|^2/2, so that C is that of the other doubled.
  const Dataset data = made::classification(80, 3, Storage::dense_doubles, 2);
  TrainOptions options{.task = together(2), .kernel = Rbf{1.0}};
  options.stop = {1e-7, 1e-7};
  const double whole = train(made::copy_of(data), options, Threads(1)).certificate.primal;
  options.task = Svc{.cost = 4, .bias = Bias::none};
  const double binary = train(made::copy_of(data), options, Threads(1)).certificate.primal;
  EXPECT_NEAR(2 * whole, binary, 1e-5 * binary);
}

TEST(Together, WeightsAndEqualRowsAreRowsAndFoldsWork) {
  Dataset once = made::classification(40, 2, Storage::dense_doubles, 3, 3);
  Dataset twice = made::copy_of(once);
  twice.x.append(once.x.view());
  twice.y.insert(twice.y.end(), once.y.begin(), once.y.end());
  once.weight.assign(40, 2.0);
  TrainOptions options{.task = together(1), .kernel = Rbf{2.0}};
  options.stop = {1e-7, 1e-7};
  const Trained weighted = train(made::copy_of(once), options, Threads(1));
  const Trained doubled = train(made::copy_of(twice), options, Threads(1));
  EXPECT_NEAR(weighted.certificate.primal, doubled.certificate.primal,
              1e-6 * doubled.certificate.primal);
  expect_verified(weighted.model, once);
  expect_verified(doubled.model, twice);
  EXPECT_GT(cross_validate(made::copy_of(once), options, 4, Threads(1)).accuracy, 0.4);
  options.probability_folds = 3;
  EXPECT_FALSE(train(made::copy_of(once), options, Threads(1)).model.calibration.none());
}

TEST(Together, RefusesWhatItHasNoRoomFor) {
  const Dataset data = made::classification(30, 2, Storage::dense_doubles, 4, 3);
  const auto refuses = [&](TrainOptions options) {
    EXPECT_THROW(train(made::copy_of(data), options, Threads(1)), Error);
  };
  TrainOptions options{.task = together(1), .kernel = Rbf{1.0}};
  options.solver = "smo";
  refuses(options);
  refuses({.task = together(1, Bias::unpenalised), .kernel = Rbf{1.0}});
  Svc squared = together(1);
  squared.loss = SquaredHinge{};
  refuses({.task = squared, .kernel = Rbf{1.0}});
  Svc hard = together(1);
  hard.hard_margin = true;
  refuses({.task = hard, .kernel = Rbf{1.0}});
}

TEST(LinearProgramMachine, IsTrainedVerifiedAndSparse) {
  const Dataset data = made::classification(100, 3, Storage::dense_doubles, 5);
  const Dataset three = made::classification(90, 3, Storage::sparse, 6, 3);
  const Dataset numbers = made::regression(80, 2, Storage::dense_doubles, 7);
  const auto expect_good = [](const Dataset& rows, const Task& task) {
    TrainOptions options{.task = task, .kernel = Rbf{1.0}};
    options.stop = {1e-5, 1e-6};
    const Trained plain = train(made::copy_of(rows), options, Threads(1));
    options.l1 = true;
    const Trained sparse = train(made::copy_of(rows), options, Threads(2));
    EXPECT_EQ(sparse.ended, Ended::converged) << name_of(task);
    EXPECT_LE(sparse.certificate.relative_gap, 1e-6);
    EXPECT_LT(sparse.model.support.count(), plain.model.support.count());
    expect_verified(sparse.model, rows);
    // A start needs dual variables, which it has not.
    options.l1 = false;
    options.start = {std::shared_ptr<void>(), &sparse.model};
    EXPECT_THROW(train(made::copy_of(rows), options, Threads(1)), Error);
  };
  expect_good(data, Svc{});
  expect_good(data, Svc{.cost = 3, .bias = Bias::none});
  expect_good(three, Svc{.cost = 2});
  expect_good(numbers, Svr{});
  expect_good(numbers, Svr{.loss = Pinball{0.7}});
}

}  // namespace
}  // namespace maxmargin::together_test
