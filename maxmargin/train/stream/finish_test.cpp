#include "maxmargin/train/stream/finish.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/predict.hpp"

namespace maxmargin {
namespace {

/// What a learner has seen, and training afresh on it: every row stays where the squared losses
/// have no flat part, so that both have the same problem.
struct Seen {
  Learner learner;
  Dataset all;

  Seen(const LearnerOptions& options, std::size_t rows) : learner(options) {
    Rng rng(5);
    all.x = Features::sparse(2);
    for (std::uint64_t t = 0; t < rows; ++t) {
      const double x[] = {rng.uniform(-1, 1), rng.uniform(-1, 1)};
      const Index features[] = {0, 1};
      const double z = x[0] * x[1] + 0.1 * rng.normal();
      const double y = learner.outcome() == Outcome::number ? z : z > 0 ? 4 : x[0] > 0 ? 7 : 2;
      learner.learn({features, x, t}, y);
      all.x.append(std::vector<double>(x, x + 2));
      all.y.push_back(y);
    }
  }
};

TEST(Finish, ReachesTheOptimumOfAllRowsWhereAllAreKept) {
  const Threads threads(1);
  Seen seen({.rule = SquaredRule{}, .kernel = Rbf{1}, .lambda = 0.01, .eta = 0.5}, 150);
  ASSERT_EQ(seen.learner.terms(), 150u);
  const Trained finished = finish(seen.learner, 150, threads);
  TrainOptions options;
  options.task = Svr{.cost = 1 / (0.01 * 150), .loss = Squared{}};
  options.kernel = Rbf{1};
  const Trained afresh = train(std::move(seen.all), options, threads);
  EXPECT_EQ(finished.ended, Ended::converged);
  EXPECT_NEAR(finished.certificate.dual, afresh.certificate.dual,
              finished.certificate.gap + afresh.certificate.gap);
}

TEST(Finish, KnowsTheClassesAndTheNumbersOfTheRowsKept) {
  const Threads threads(1);
  for (const Rule& rule : {Rule{SoftMarginRule{}}, Rule{SquaredHingeRule{}}, Rule{PegasosRule{}}}) {
    const Seen seen({.rule = rule, .kernel = Rbf{2}, .lambda = 0.003, .truncation = Budget{60}},
                    400);
    const Trained finished = finish(seen.learner, 400, threads);
    EXPECT_EQ(finished.ended, Ended::converged);
    EXPECT_EQ(finished.model.classes, (std::vector<std::string>{"2", "4", "7"}));
    ASSERT_FALSE(finished.model.support_row.empty());
    // The rows are those that the stream had at these numbers.
    const Rows support = finished.model.support, rows = seen.all.x;
    for (std::size_t k = 0; k < support.count; ++k) {
      std::vector<double> one, other;
      support.for_each(k, [&](Index, double value) { one.push_back(value); });
      rows.for_each(finished.model.support_row[k],
                    [&](Index, double value) { other.push_back(value); });
      EXPECT_EQ(one, other);
    }
    std::size_t correct = 0;
    const Predictor predictor(finished.model);
    const auto f = predictor.decision_values(predictor.prepared(seen.all.x), threads);
    for (std::size_t i = 0; i < 400; ++i) {
      const auto first = f.begin() + static_cast<std::ptrdiff_t>(3 * i);
      const auto best = static_cast<std::size_t>(std::max_element(first, first + 3) - first);
      correct += std::stod(finished.model.classes[best]) == seen.all.y[i];
    }
    EXPECT_GT(correct, 300u);
  }
}

TEST(Finish, TakesEveryRowWhereAllAreKept) {
  const Threads threads(1);
  for (const Kernel& kernel : {Kernel{Linear{}}, Kernel{Rbf{2}}}) {
    // A flat part of the loss: most rows are not in f.
    Seen seen({.rule = SoftMarginRule{}, .kernel = kernel, .lambda = 0.01, .keep = true}, 300);
    const std::string state = seen.learner.state();
    const Learner again =
        Learner::from_state(std::as_bytes(std::span(state)), "the state of a test");
    const Trained finished = finish(again, 300, threads);
    EXPECT_EQ(finished.ended, Ended::converged);
    TrainOptions options;
    Svc task;
    task.cost = 1 / (0.01 * 300);
    task.multiclass = Multiclass::one_vs_rest;
    options.task = task;
    options.kernel = kernel;
    const Trained afresh = train(std::move(seen.all), options, threads);
    EXPECT_NEAR(finished.certificate.dual, afresh.certificate.dual,
                finished.certificate.gap + afresh.certificate.gap);
  }
}

TEST(Finish, RefusesWhatHasNoOptimumOfItsRows) {
  const auto refused = [](const LearnerOptions& options) {
    EXPECT_THROW(require_finishable(options), Error);
  };
  refused({.rule = SoftMarginRule{}});
  refused({.rule = PerceptronRule{}, .kernel = Rbf{1}});
  refused({.rule = AdaptiveHuberRule{}, .kernel = Rbf{1}});
  refused({.rule = SoftMarginRule{}, .kernel = Rbf{1}, .lambda = 0});
  refused({.rule = SoftMarginRule{},
           .kernel = Rbf{1},
           .truncation = Budget{.budget = 10, .removal = Removal::merge}});
  EXPECT_NO_THROW(require_finishable({.rule = NoveltyRule{}, .kernel = Rbf{1}}));
}

}  // namespace
}  // namespace maxmargin
