// Small problems at which honest models were called false, or whose training had no end.
#include <gtest/gtest.h>

#include <fstream>

#include "maxmargin/structured/train.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin {
namespace {

struct Case {
  const char* task;
  std::map<std::string, std::string> options;
  const char* data;
  double C = 1, gap = 1e-3;
  Slack slack = Slack::linear;
};

class HonestStructures : public testing::Test {
 protected:
  std::unique_ptr<StructuredData> read(const Case& from) {
    const std::string path = folder_ / "data";
    std::ofstream(path) << from.data;
    return task(from).read(path, task(from).settings(from.options), nullptr, threads_);
  }
  static const StructuredTask& task(const Case& of) { return *structured_task_named(of.task); }
  static StructuredTraining training(const Case& of, const char* solver) {
    StructuredTraining training;
    training.C = of.C;
    training.slack = of.slack;
    training.stop.relative_gap = of.gap;
    training.solver = structured_solver_named(solver);
    return training;
  }
  StructuredModel train(const Case& of, const StructuredData& data, const char* solver) {
    return train_structured(task(of), task(of).settings(of.options), data, training(of, solver),
                            threads_)
        .model;
  }

  const Threads threads_{1};
  const TemporaryFolder folder_;
};

// Two oracles add up the same scores in another order. With a large C, or values of very different
// size, what they round is more than a billionth of the objective.
TEST_F(HonestStructures, AreNeverCalledFalse) {
  const Case cases[] = {
      {"multilabel", {{"edges", "full"}}, "0 1:8.48e+99\n"},
      {"multilabel", {{"edges", "none"}}, "0,1 1:0 2:2.08 3:1e-3\n0 2:1.49 3:-1.37 4:3\n", 1e12},
      {"sample",
       {{"loss", "precision"}},
       "0 \n1 1:-1\n-1 \n-1 1:-1.07\n-1 1:1e5\n1 \n",
       10,
       1e-9,
       Slack::squared},
      {"collective",
       {},
       "p qid:1 1:0 2:0.51\nf qid:1 1:-1e-300 2:1.49\nedge 1 2\nedge 1 2\nedge 1 2\n",
       1e12,
       1e-9},
      {"sequence",
       {{"format", "crfsuite"}, {"kernel", "polynomial"}, {"gamma", "1"}},
       "I-X\tw=a\nB-X\ts\tz:2.5\ts\nB-X\ts\n\n",
       1e8},
      {"sample",
       {},
       "1 2:-0.161 3:-0.459 4:0.522\n"
       "1 1:-1.71 2:-1.16 3:-1.61\n"
       "1 1:-0.133 4:1.32\n"
       "-1 1:0.236 2:-1e-300 4:-0.403\n"
       "+1 4:1e-3\n"
       "-1 1:0.819 2:-0.243 3:-1e-300\n"
       "1 1:-1 2:1.84 3:1e5\n"
       "-1 1:1.24 3:-0.603 4:-0.181\n"
       "0 1:3 2:1e5 3:0.338 4:-2\n"
       "0 1:1e-3 3:-1\n"
       "+1 1:100 3:-1e-300\n"
       "+1 1:-1.13 2:-1e-300 3:-1e-300 4:3\n"
       "-1 1:-0.948 2:-1 4:1e-3\n"
       "+1 2:0.564 3:2.35\n"
       "-1 1:-2 2:3\n",
       1,
       1e-3,
       Slack::none},
      {"ranking", {}, "2 qid:1 2:-0.323 3:1e5 4:2\n0 qid:1 1:0.536 2:0 3:-1e-300 4:1\n", 1e-3, 0.5},
  };
  for (const Case& each : cases) {
    const auto data = read(each);
    for (const char* solver : {"blocks", "n-slack", "1-slack"}) {
      const StructuredModel model = train(each, *data, solver);
      const VerifiedStructured verified = verify_structured(model, *data, threads_);
      EXPECT_TRUE(verified.holds) << each.task << " " << solver << " " << verified.reason;
      // The rounding forgiven is no more than that.
      StructuredModel spoiled = model;
      spoiled.certificate.primal -=
          1e-6 * model.certificate.primal + 5 * verified.recomputed.rounding + 1e-300;
      EXPECT_FALSE(verify_structured(spoiled, *data, threads_).holds) << each.task << " " << solver;
    }
  }
}

// No w has all of these margins: the dual has no bound, and grows fastest with all alpha together.
TEST_F(HonestStructures, MarginsThatContradictEachOtherAreToldSoon) {
  const Case trees{"parse",
                   {},
                   "(S (S (V dog)))\n(S (NP (NP (D the) (D dog))) (N sees))\n(S (N sees))\n"
                   "(S (D a) (NP (V a) (S (V sees) (N dog))))\n"
                   "(S (S (S (V the) (V the)) (VP (V dog) (D dog))))\n"
                   "(S (V the) (NP (V cat) (VP (N cat) (N dog))))\n",
                   1,
                   1e-3,
                   Slack::none};
  const auto data = read(trees);
  for (const char* solver : {"blocks", "n-slack", "1-slack"}) {
    StructuredTraining limited = training(trees, solver);
    limited.stop.iterations = 1000;
    const Settings settings = task(trees).settings(trees.options);
    EXPECT_EQ(train_structured(task(trees), settings, *data, limited, threads_).model.ended,
              Ended::unbounded)
        << solver;
  }
}

// A value of 1e5 beside values of 1: steps of single examples took more than 100,000 passes.
TEST_F(HonestStructures, FeaturesOfVeryDifferentSizeHaveAnEnd) {
  const Case rows{"multilabel",
                  {},
                  " 2:-0.838\n 2:100\n1 1:1.02 2:0.912\n1 1:-0.605 2:0\n0 1:0.99 2:1e5\n"
                  "0,1,2 1:-0.783 2:-0.5\n1,2 2:-0.275\n0,2 1:1\n0,1,2 1:3 2:1e-3\n"
                  "0,1,2 1:1\n2 2:1e-3\n1 1:-1 2:0\n0 2:0.428\n0 1:0 2:1\n 1:1 2:1e5\n"};
  const auto data = read(rows);
  StructuredTraining limited = training(rows, "blocks");
  limited.stop.iterations = 1000;
  const Settings settings = task(rows).settings(rows.options);
  const StructuredModel model =
      train_structured(task(rows), settings, *data, limited, threads_).model;
  EXPECT_EQ(model.ended, Ended::converged);
  EXPECT_TRUE(verify_structured(model, *data, threads_).holds);
}

TEST_F(HonestStructures, FoldsThatHadNoTimeHaveNoScore) {
  const Case walks{"plan", {}, "grid\n..~.\n.~~.\n....\npath 0,0 1,0 2,0\npath 0,1 0,0 1,0\n"};
  const auto data = read(walks);
  StructuredTraining late = training(walks, "blocks");
  late.stop.seconds = 0;
  const auto folds = cross_validate_structured(*data, late, 2, threads_);
  EXPECT_EQ(folds.ended, Ended::time_limit);
  EXPECT_TRUE(folds.scores.empty());
}

}  // namespace
}  // namespace maxmargin
