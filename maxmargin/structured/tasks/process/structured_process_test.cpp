// Oracles in other programs: the example in Python against the same oracle here, and programs that
// die, hang or talk nonsense.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/rng.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/structured/doctor.hpp"
#include "maxmargin/structured/enumeration.hpp"
#include "maxmargin/structured/tasks/process/process.hpp"
#include "maxmargin/structured/train.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::structured_process_test {
namespace {

/// Features of person p at job j of an example: x[p][j].
using Jobs = std::vector<std::vector<std::vector<double>>>;

/// What examples/matching_oracle.py does.
class MatchingOracle : public Oracle {
 public:
  explicit MatchingOracle(std::size_t count) {
    Rng rng(3);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t n = 2 + rng.below(3);
      Jobs x(n, std::vector<std::vector<double>>(n, std::vector<double>(3)));
      for (auto& row : x)
        for (auto& cell : row)
          for (double& each : cell) each = rng.normal();
      Structure y(n);
      std::iota(y.begin(), y.end(), 0);
      for (std::size_t k = n; k > 1; --k) std::swap(y[k - 1], y[rng.below(k)]);
      // Whose job is right can be seen of the first feature, mostly.
      for (std::size_t p = 0; p < n; ++p) x[p][static_cast<std::size_t>(y[p])][0] += 1;
      x_.push_back(std::move(x));
      y_.push_back(std::move(y));
    }
  }
  std::size_t examples() const override { return x_.size(); }
  std::size_t dimensions() const override { return 3; }
  Structure truth(std::size_t i) const override { return y_[i]; }
  double loss(std::size_t i, StructureView y) const override {
    double wrong = 0;
    for (std::size_t p = 0; p < y.size(); ++p) wrong += y[p] != y_[i][p] ? 1 : 0;
    return wrong;
  }
  void features(std::size_t i, StructureView y, double scale, JointFeatures& out) const override {
    for (std::size_t p = 0; p < y.size(); ++p)
      for (std::size_t k = 0; k < 3; ++k)
        out.add(k, scale * x_[i][p][static_cast<std::size_t>(y[p])][k]);
  }
  Structure most_violated(std::size_t i, std::span<const double> w, Ask ask) const override {
    return Orders(*this).most_violated(i, w, ask);
  }
  using Oracle::most_violated;

  std::string json() const {
    std::string text;
    const auto list = [](const auto& values, const auto& show) {
      std::string inside;
      for (const auto& each : values) inside += (inside.empty() ? "" : ",") + show(each);
      return "[" + inside + "]";
    };
    for (std::size_t i = 0; i < x_.size(); ++i)
      text += "{\"x\":" +
              list(x_[i],
                   [&](const auto& row) {
                     return list(row, [&](const auto& cell) {
                       return list(cell, [](double each) { return shortest(each); });
                     });
                   }) +
              ",\"y\":" + list(y_[i], [](int each) { return std::to_string(each); }) + "}\n";
    return text;
  }

 private:
  class Orders : public EnumerationOracle {
   public:
    explicit Orders(const MatchingOracle& other) : EnumerationOracle(other) {}

   protected:
    bool next(std::size_t i, Structure& y) const override {
      if (!y.empty()) return std::next_permutation(y.begin(), y.end());
      y.resize(truth(i).size());
      std::iota(y.begin(), y.end(), 0);
      return true;
    }
  };
  std::vector<Jobs> x_;
  std::vector<Structure> y_;
};

class StructuredProcess : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }
  /// An oracle in shell of one example, one dimension and the structures 0 (right) and 1; it
  /// answers as the shell's `case` says.
  std::string command(const std::string& cases) const {
    return "exec sh " +
           write("oracle.sh", "while read -r line; do case \"$line\" in " + cases +
                                  " *'\"open\"'*) echo '{\"examples\":1,\"dimensions\":1,"
                                  "\"truths\":[[0]]}';;"
                                  " *'\"describe\"'*'[[1]]'*) echo "
                                  "'{\"losses\":[1],\"features\":[[[0,0.5]]]}';;"
                                  " *'\"describe\"'*) echo "
                                  "'{\"losses\":[0],\"features\":[[[0,1.5]]]}';;"
                                  " *'\"w\":[0'*|*'\"w\":[-'*) echo "
                                  "'{\"structures\":[[1]]}';;"
                                  " *) echo '{\"structures\":[[0]]}';; esac; done");
  }
  static StructuredModel train(const std::map<std::string, std::string>& given,
                               const std::string& path, int threads,
                               const StructuredTraining& training) {
    const StructuredTask& task = *structured_task_named("process");
    const Threads crew(threads);
    const Settings settings = task.settings(given);
    const auto data = task.read(path, settings, nullptr, crew);
    return train_structured(task, settings, *data, training, crew).model;
  }
  std::string complaint(const std::string& cases, const std::string& limit = "20") const {
    try {
      train({{"oracle", command(cases)}, {"reply-limit", limit}}, "none", 1, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
  const TemporaryFolder folder_;
};

TEST_F(StructuredProcess, TheExampleInPythonIsTheOracleThatItSays) {
  const MatchingOracle matching(25);
  const std::string path = write("jobs.json", matching.json());
  StructuredTraining training;
  training.C = 10;
  training.stop.relative_gap = 1e-6;
  const Threads threads(1);
  const SolvedStructured expected = solve({matching, 10}, BlockPlanes{}, training.stop, {threads});
  const std::string program = "python3 " + (source_dir() / "examples/matching_oracle.py").string();
  const StructuredModel model = train({{"oracle", program}}, path, 1, training);
  EXPECT_EQ(model.ended, Ended::converged);
  EXPECT_NEAR(model.certificate.primal, expected.certificate.primal,
              2e-6 * expected.certificate.primal);
  EXPECT_FALSE(model.settings.contains("oracle"));
  EXPECT_EQ(train({{"oracle", program}}, path, 2, training).w, model.w);

  const StructuredTask& task = *structured_task_named("process");
  const auto again =
      task.read(path, task.settings({{"oracle", program}}), &model.vocabulary, threads);
  const VerifiedStructured verified = verify_structured(model, *again, threads);
  EXPECT_TRUE(verified.holds) << verified.reason;
  EXPECT_EQ(predict_structures(again->oracle(), model.w, threads),
            predict_structures(matching, model.w, threads));
}

TEST_F(StructuredProcess, AnOracleInShellCanBeTrained) {
  const StructuredModel model = train({{"oracle", command("")}}, "none", 1, {});
  EXPECT_EQ(model.ended, Ended::converged);
  EXPECT_NEAR(model.certificate.primal, 0.5, 1e-3);  // w = 1: the margin is kept
}

TEST_F(StructuredProcess, WhatAnOracleDoesWrongIsOneClearLine) {
  const auto expect = [&](const std::string& cases, const std::string& words,
                          const std::string& limit = "20") {
    const std::string said = complaint(cases, limit);
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect("*) echo 'no data' >&2; exit 3;;",
         "ended with code 3 before it answered; it wrote: no data");
  expect("*) kill -9 $$;;", "ended by signal 9");
  expect("*) echo wait >&2; sleep 100;;", "did not answer within 0.2 seconds; it wrote: wait",
         "0.2");
  expect("*) echo hello;;", "sent 'hello', which is no JSON object");
  expect("*) echo '{}';;", "sent no \"examples\"");
  expect("*'\"open\"'*) echo '{\"examples\":0,\"dimensions\":1,\"truths\":[]}';;",
         "there are no examples");
  expect("*'\"open\"'*) echo '{\"examples\":1,\"dimensions\":1}';;",
         "does not send the right structures");
  expect("*'\"open\"'*) echo '{\"examples\":2,\"dimensions\":1,\"truths\":[[0]]}';;",
         "must send 2 \"truths\"");
  expect("*'\"describe\"'*'[[1]]'*) echo '{\"losses\":[NaN],\"features\":[[]]}';;",
         "sent a number that is not finite as a loss of example 1");
  expect("*'\"describe\"'*'[[1]]'*) echo '{\"losses\":[1],\"features\":[[[0,-Infinity]]]}';;",
         "sent a number that is not finite as a feature of example 1");
  expect("*'\"describe\"'*'[[1]]'*) echo '{\"losses\":[1],\"NaN\\\"NaN';;",
         "which is no JSON object");
  expect("*'\"describe\"'*'[[1]]'*) echo '{\"losses\":[-1],\"features\":[[]]}';;",
         "gives a structure of example 1 a loss below 0, -1");
  expect("*'\"describe\"'*) echo '{\"losses\":[0],\"features\":[[[1,1]]]}';;",
         "sent feature 1 for example 1, beyond the 1 dimensions");
  expect("*'\"describe\"'*) echo '{\"losses\":[2],\"features\":[[[0,1]]]}';;",
         "example 1: the loss of the truth is 2");
  expect("*'\"margin\"'*) echo '{\"structures\":[[0],[1]]}';;", "must send 1 \"structures\"");
  expect("*'\"margin\"'*) echo '{\"structures\":[[0.5]]}';;",
         "sent '0.5' in a structure of example 1");
  // One that always finds the wrong structure.
  expect(
      "*'\"describe\"'*'[[1]]'*) echo '{\"losses\":[1],\"features\":[[[0,-99]]]}';; "
      "*'\"margin\"'*) echo '{\"structures\":[[1]]}';;",
      "example 1: the oracle's most violated");
}

// What was learned before the oracle died is handed over.
TEST_F(StructuredProcess, NothingIsLostWhenAnOracleDies) {
  const std::string counter = folder_ / "count";
  // The doctor asks ten times.
  const std::string dies =
      command("*'\"margin\"'*) echo x >> " + counter + "; if [ $(wc -l < " + counter +
              ") -gt 12 ]; then exit 1; fi; case \"$line\" in "
              "*'\"w\":[0'*|*'\"w\":[-'*) echo '{\"structures\":[[1]]}';; "
              "*) echo '{\"structures\":[[0]]}';; esac;;");
  StructuredTraining training;
  training.stop.relative_gap = 1e-12;
  std::optional<StructuredModel> saved;
  training.rescue = [&](const StructuredModel& model) { saved = model; };
  EXPECT_THROW(train({{"oracle", dies}}, "none", 1, training), Error);
  ASSERT_TRUE(saved.has_value());
  EXPECT_EQ(saved->planes.size(), 1u);
  EXPECT_EQ(saved->ended, Ended::cancelled);
}

TEST_F(StructuredProcess, TasksWithoutAnOracleAreRefused) {
  try {
    train({}, "none", 1, {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
  }
}

}  // namespace
}  // namespace maxmargin::structured_process_test
