#include "maxmargin/train/machines/approximation.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::approximation_test {
namespace {

TrainOptions options(Task task, Selection selection, std::size_t rank) {
  TrainOptions result;
  result.task = std::move(task);
  result.kernel = Rbf{.gamma = 0.5};
  result.stop.kkt = 1e-7;
  result.stop.relative_gap = 1e-8;
  Approximate how;
  how.selection = selection;
  how.rank = rank;
  result.approximate = how;
  result.true_bound = true;
  return result;
}

Dataset data_for(const Task& task) {
  return outcome_of(task) == Outcome::number
             ? made::regression(60, 4, made::Storage::sparse, 3)
             : made::classification(60, 4, made::Storage::sparse, 4);
}

std::vector<Task> all_tasks() {
  std::vector<Task> result;
  for_each_component<Task>([&](const auto& task) { result.push_back(task); });
  Svc squared;
  squared.loss = SquaredHinge{};
  squared.bias = Bias::penalised;
  result.push_back(squared);
  return result;
}

// Whatever solver is asked: the model has the basis functions and nothing else, and the primal is
// that of the function it stands for. The optimum with the true kernel lies between the bounds.
TEST(Approximation, ModelsKeepOnlyTheBasis) {
  for (const Task& task : all_tasks())
    for (const Selection selection : {Selection::sgma, Selection::random, Selection::pivoted})
      for_each_component<Solver>([&](const auto& solver) {
        SCOPED_TRACE(std::string(name_of(task)) + ", " + std::string(solver.name));
        TrainOptions how = options(task, selection, 12);
        how.solver = solver.name;
        try {
          const Trained trained = train(data_for(task), how, Threads(2));
          EXPECT_EQ(trained.ended, Ended::converged);
          EXPECT_LE(trained.model.support.count(), 12u);
          EXPECT_EQ(trained.rank, 12u);
          const Verified found = verify(trained.model, data_for(task), Threads(1))[0];
          EXPECT_TRUE(found.holds) << found.reason;
          EXPECT_TRUE(found.primal_only);
          TrainOptions exact = how;
          exact.approximate.reset();
          exact.solver = "auto";
          const Certificate truth = train(data_for(task), exact, Threads(2)).certificate;
          const double tiny = 1e-6 * (1 + std::abs(truth.primal));
          EXPECT_GE(trained.certificate.primal, truth.dual - tiny);
          EXPECT_LE(trained.true_dual, truth.primal + tiny);
        } catch (const Error& refusal) {
          EXPECT_EQ(refusal.fault(), Fault::usage) << refusal.what();
        }
      });
}

// With as many basis functions as the kernel has rank, the machine is the exact one.
TEST(Approximation, EnoughBasisFunctionsGiveTheExactMachine) {
  const Dataset data = made::classification(60, 4, made::Storage::dense_doubles, 5);
  TrainOptions how = options(Svc{}, Selection::pivoted, 30);
  how.kernel = Linear{};
  const Trained few = train(made::copy_of(data), how, Threads(2));
  EXPECT_LE(few.model.support.count(), 4u);
  how.approximate.reset();
  const Trained all = train(made::copy_of(data), how, Threads(2));
  const std::vector<double> f = Predictor(few.model).decision_values(data.x, Threads(1));
  const std::vector<double> g = Predictor(all.model).decision_values(data.x, Threads(1));
  for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], g[i], 1e-4);
}

// Every task, with and without a bias: the function that the model holds has the primal that was
// promised, and the optimum of the exact machine lies between the bounds.
TEST(Approximation, ARisingRankReachesTheTrueOptimum) {
  for (const Task& task : all_tasks()) {
    SCOPED_TRACE(std::string(name_of(task)));
    TrainOptions how = options(task, Selection::pivoted, 0);
    how.stop.kkt = 1e-5;
    how.approximate->residual = 0.3;
    how.true_gap = 1e-3;
    const Trained trained = train(data_for(task), how, Threads(2));
    EXPECT_EQ(trained.ended, Ended::converged);
    ASSERT_EQ(trained.improvement.size(), 1u);
    EXPECT_EQ(trained.improvement[0].limit, ImproveLimit::gap);
    EXPECT_LE(trained.improvement[0].rounds.back().relative_gap, 1e-3);
    const Verified found = verify(trained.model, data_for(task), Threads(1))[0];
    EXPECT_TRUE(found.holds) << found.reason;
    TrainOptions exact = how;
    exact.approximate.reset();
    const Certificate truth = train(data_for(task), exact, Threads(2)).certificate;
    const double tiny = 1e-6 * (1 + std::abs(truth.primal));
    EXPECT_GE(trained.certificate.primal, truth.dual - tiny);
    EXPECT_LE(trained.true_dual, truth.primal + tiny);
  }
}

TEST(Approximation, MachinesOfSeveralClassesRaiseTheirOwnRank) {
  TrainOptions how = options(Svc{}, Selection::random, 0);
  how.stop.kkt = 1e-4;
  how.approximate->residual = 0.3;
  how.true_gap = 1e-2;
  const Dataset data = made::classification(90, 4, made::Storage::dense_floats, 5, 3);
  const Trained trained = train(made::copy_of(data), how, Threads(2));
  EXPECT_EQ(trained.ended, Ended::converged);
  EXPECT_EQ(trained.improvement.size(), 3u);
  for (const Verified& found : verify(trained.model, made::copy_of(data), Threads(1)))
    EXPECT_TRUE(found.holds) << found.reason;
}

// What approximating the kernel takes is taken from what training may.
TEST(Approximation, TheTimeLimitIsOneForAllPhases) {
  const Dataset data = made::classification(3000, 4, made::Storage::dense_floats, 5);
  TrainOptions how = options(Svc{}, Selection::sgma, 2000);
  how.stop.seconds = 1;
  const Threads threads(1);
  const auto slow = [](const Progress& progress) {
    if (progress.phase == "approximate") std::this_thread::sleep_for(std::chrono::seconds(1));
    return Control::proceed;
  };
  const Trained trained = train(made::copy_of(data), how, Context(threads, slow));
  EXPECT_EQ(trained.ended, Ended::time_limit);
  EXPECT_EQ(trained.iterations, 0u);
  how.stop.seconds = infinity;
  const auto impatient = [](const Progress& progress) {
    return progress.phase == "approximate" ? Control::cancel : Control::proceed;
  };
  EXPECT_NE(cross_validate(made::copy_of(data), how, 3, Context(threads, impatient)).ended,
            Ended::converged);
}

TEST(Approximation, SeveralMachinesShareTheBasis) {
  const Dataset data = made::classification(80, 4, made::Storage::dense_floats, 5, 4);
  const Trained trained =
      train(made::copy_of(data), options(Svc{}, Selection::sgma, 10), Threads(2));
  EXPECT_EQ(trained.model.machines.size(), 6u);
  EXPECT_LE(trained.model.support.count(), 10u);
}

TEST(Approximation, ThreadsAndEqualRowsChangeNothing) {
  Dataset data = made::classification(60, 4, made::Storage::dense_floats, 5);
  std::vector<Index> which(60);
  for (Index i = 0; i < 60; ++i) which[i] = i;
  for (Index i = 0; i < 20; ++i) which.push_back(i);
  const Dataset twice = made::chosen(data, which);
  data.weight.assign(60, 1.0);
  for (std::size_t i = 0; i < 20; ++i) data.weight[i] = 2;
  const TrainOptions how = options(Svc{}, Selection::sgma, 10);
  const double one = train(made::copy_of(twice), how, Threads(1)).certificate.primal;
  EXPECT_EQ(one, train(made::copy_of(twice), how, Threads(3)).certificate.primal);
  EXPECT_NEAR(one, train(std::move(data), how, Threads(2)).certificate.primal, 1e-7 * one);
}

TEST(Approximation, RefusesIndefiniteKernels) {
  TrainOptions how = options(Svc{}, Selection::sgma, 10);
  how.kernel = Sigmoid{};
  EXPECT_THROW(train(data_for(Svc{}), how, Threads(1)), Error);
}

}  // namespace
}  // namespace maxmargin::approximation_test
