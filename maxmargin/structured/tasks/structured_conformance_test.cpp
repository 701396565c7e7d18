// What every task in the box has to do, on small files: an oracle that the doctor and the second
// oracle agree with, training with a certificate that verify confirms, the same bits for any number
// of threads, predictions, and a model that reads other files as the first was read.
#include <gtest/gtest.h>

#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/structured/doctor.hpp"
#include "maxmargin/structured/train.hpp"
#include "tests/enumerated_structures.hpp"
#include "tests/structured_samples.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::structured_conformance_test {
namespace {

using structured_samples::Sample;

class StructuredConformance : public testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    path_ = folder_ / "data";
    std::ofstream(path_) << GetParam().text;
    settings_ = task_.settings(GetParam().settings);
    data_ = task_.read(path_, settings_, nullptr, Threads(1));
  }
  StructuredTraining training() const {
    StructuredTraining training;
    training.C = GetParam().C;
    training.stop.relative_gap = 1e-4;
    return training;
  }

  const TemporaryFolder folder_;
  const StructuredTask& task_ = *structured_task_named(GetParam().task);
  std::string path_;
  Settings settings_;
  std::unique_ptr<StructuredData> data_;
};

TEST_P(StructuredConformance, TheSecondOracleFindsNothingBetter) {
  const Oracle &oracle = data_->oracle(), &witness = data_->witness();
  examine({oracle, 1});
  Rng rng(5);
  for (std::size_t i = 0; i < oracle.examples(); ++i)
    for (const Ask ask : {Ask::best, Ask::margin, Ask::slack})
      for (int k = 0; k < 4; ++k) {
        if (!oracle.answers(ask) || !witness.answers(ask)) continue;
        if (ask == Ask::best && oracle.exactness() == Exactness::relaxed) continue;
        std::vector<double> w(oracle.dimensions());
        for (double& each : w) each = k == 0 ? 0 : rng.normal() * (k == 1 ? 0.1 : 1);
        const Structure found = oracle.most_violated(i, w, ask);
        const Structure other = witness.most_violated(i, w, ask);
        EXPECT_TRUE(oracle.is_structure(i, found));
        EXPECT_TRUE(oracle.is_structure(i, other));
        const std::vector<StructureView> ys{found, other};
        std::vector<double> margins(2);
        oracle.margins(i, ys, w, margins);
        JointFeatures sum;
        oracle.combine(i, ys, std::vector<double>{1, -2}, sum);
        EXPECT_NEAR(margins[0], -enumerated::asked(oracle, i, found, w, Ask::best), 1e-9);
        EXPECT_NEAR(sum.dot(w), margins[0] - 2 * margins[1], 1e-9);
        const double mine = enumerated::asked(oracle, i, found, w, ask);
        const double its = enumerated::asked(oracle, i, other, w, ask);
        if (oracle.exactness() == Exactness::heuristic)
          EXPECT_LE(mine, its + 1e-9);
        else
          EXPECT_NEAR(mine, its, 1e-9) << oracle.example_name(i);
      }
}

TEST_P(StructuredConformance, TrainsVerifiesAndPredicts) {
  const Threads one(1), three(3);
  const StructuredModel model = train_structured(task_, settings_, *data_, training(), one).model;
  if (data_->oracle().exactness() != Exactness::heuristic) {
    EXPECT_EQ(model.ended, Ended::converged);
    EXPECT_LE(model.certificate.relative_gap, 1e-4);
  }
  EXPECT_EQ(model.certificate.bounds(), data_->oracle().exactness() != Exactness::heuristic);
  EXPECT_EQ(train_structured(task_, settings_, *data_, training(), three).model.w, model.w);

  const StructuredModel read = structured_from_bytes(structured_bytes(model), "model");
  const auto again = task_.read(path_, task_.settings(read.settings), &read.vocabulary, one);
  EXPECT_EQ(again->vocabulary(), data_->vocabulary());
  const VerifiedStructured verified = verify_structured(read, *again, three);
  EXPECT_TRUE(verified.holds) << verified.reason;
  const std::vector<double> w = scores_of(read, *again);
  const auto found = predict_structures(again->oracle(), w, three);
  EXPECT_EQ(found, predict_structures(data_->oracle(), w, one));
  std::vector<std::size_t> examples;
  std::string text;
  for (std::size_t i = 0; i < found.size(); ++i) {
    examples.push_back(i);
    again->print(i, found[i], w, text);
  }
  EXPECT_TRUE(text.ends_with("\n"));
  for (const auto& [name, value] : again->score(examples, found, w))
    EXPECT_TRUE(std::isfinite(value)) << name;

  StructuredModel spoiled = read;
  for (auto& planes : spoiled.planes)
    for (Plane& plane : planes) plane.alpha *= 0.9;
  EXPECT_FALSE(verify_structured(spoiled, *again, one).holds);
}

// Whatever a model file says: an Error, or structures of the example, never anything else.
TEST_P(StructuredConformance, DamagedStructuresAreNoStructures) {
  const Oracle& oracle = data_->oracle();
  Rng rng(8);
  for (std::size_t i = 0; i < oracle.examples(); ++i)
    for (int k = 0; k < 20; ++k) {
      Structure y = oracle.truth(i);
      const std::uint64_t how = rng.below(3);
      if (how == 0 && !y.empty()) y.resize(rng.below(y.size()));
      if (how == 1) y.push_back(static_cast<std::int32_t>(rng.below(5)) - 2);
      if (how == 2 && !y.empty())
        y[rng.below(y.size())] = static_cast<std::int32_t>(rng.below(200)) - 100;
      if (!oracle.is_structure(i, y)) continue;
      JointFeatures features;
      oracle.features(i, y, 1, features);
      for (const Index each : features.index) EXPECT_LT(each, oracle.dimensions());
      EXPECT_GE(oracle.loss(i, y), 0);
    }
}

// A list of words that a model does not have is damage, not a crash.
TEST_P(StructuredConformance, AModelWithoutItsWordsIsRefused) {
  const Vocabulary whole = data_->vocabulary();
  for (const auto& [name, words] : whole) {
    Vocabulary less = whole;
    less.erase(name);
    EXPECT_THROW(task_.read(path_, settings_, &less, Threads(1)), Error) << name;
  }
  EXPECT_FALSE(data_->contents().empty());
}

INSTANTIATE_TEST_SUITE_P(Tasks, StructuredConformance, testing::ValuesIn(structured_samples::all()),
                         [](const auto& sample) {
                           std::string name = std::to_string(sample.index) + "_";
                           for (const char c : sample.param.task) name += c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace maxmargin::structured_conformance_test
