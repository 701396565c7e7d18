// Models that earlier versions wrote load for ever, and predict what they predicted: tests/models
// holds one for every task, loss, scheme of several classes and calibration, the rows they were
// trained on, and what was predicted of these ("v": decision values, "p": what `predict` printed).
#include <set>
#include <sstream>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "tests/cli_program.hpp"
#include "tests/source_tree.hpp"

namespace maxmargin::old_models_test {
namespace {

const std::filesystem::path folder = source_dir() / "tests/models";

struct Sample {
  std::string model, data;
  std::vector<std::vector<double>> values;
  std::vector<std::string> printed;
};

std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const std::string& line : testing_tree::lines(folder / "expected")) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "v") {
      auto& row = all.back().values.emplace_back();
      for (double value = 0; words >> value;) row.push_back(value);
    } else if (first == "p") {
      all.back().printed.push_back(line.substr(2));
    } else {
      all.push_back({first, {}, {}, {}});
      words >> all.back().data;
    }
  }
  return all;
}

Dataset rows_of(const Sample& sample) {
  return read(folder / (sample.data + ".libsvm"), {}, Threads(1));
}

// Models of other tests may stand beside them.
TEST(OldModels, AreAllStillThere) {
  EXPECT_GE(samples().size(), 31u);
  for (const Sample& sample : samples())
    EXPECT_TRUE(std::filesystem::exists(folder / (sample.model + ".model"))) << sample.model;
}

TEST(OldModels, DecideAsTheyDid) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.model);
    const Model model = load(folder / (sample.model + ".model"));
    const Dataset data = rows_of(sample);
    const Predictor predictor(model);
    const std::vector<double> found =
        predictor.decision_values(predictor.prepared(data.x), Threads(1), Precision::exact);
    ASSERT_EQ(data.rows(), sample.values.size());
    for (std::size_t i = 0, k = 0; i < sample.values.size(); ++i)
      for (const double wanted : sample.values[i])
        ASSERT_NEAR(found[k++], wanted, 1e-5 * (1 + std::abs(wanted))) << i;
  }
}

// Their objectives are measurements, made with float kernel values; today's are proved bounds, and
// a judge says so where a measurement is no bound. The optimum is where they said, to the digits
// that floats have, and nothing else that they state is false.
TEST(OldModels, HoldWhatTheyPromised) {
  constexpr double float_digits = 1e-6;
  const std::set<std::string> measured = {"primal", "dual", "best_primal", "best_dual"};
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.model);
    Model model = load(folder / (sample.model + ".model"));
    const Dataset data = rows_of(sample);
    const std::vector<Verified> judged = verify(model, data, Threads(1));
    ASSERT_EQ(judged.size(), model.machines.size());
    for (std::size_t m = 0; m < judged.size(); ++m) {
      if (judged[m].holds) continue;
      EXPECT_TRUE(measured.contains(judged[m].field)) << judged[m].reason;
      Certificate& stored = model.machines[m].certificate;
      const Certificate& now = judged[m].recomputed;
      const double size = std::abs(stored.primal) + std::abs(stored.dual);
      EXPECT_NEAR(now.primal, stored.primal, float_digits * size);
      EXPECT_NEAR(now.dual, stored.dual, float_digits * size);
      stored.primal = stored.best_primal = now.primal;
      stored.dual = stored.best_dual = now.dual;
      stored.gap = now.primal - now.dual;
      stored.relative_gap = 2 * stored.gap / (std::abs(now.primal) + std::abs(now.dual));
    }
    // With bounds in the place of measurements all of it is true.
    for (const Verified& machine : verify(model, data, Threads(1)))
      EXPECT_TRUE(machine.holds) << machine.reason;
  }
}

TEST(OldModels, AreWrittenAgainAsTheyAre) {
  for (const Sample& sample : samples()) {
    const Model model = load(folder / (sample.model + ".model"));
    const std::string bytes = to_bytes(model);
    const Model again = from_bytes(std::as_bytes(std::span(bytes)), sample.model);
    EXPECT_EQ(digest(again), digest(model)) << sample.model;
    EXPECT_EQ(again.options, model.options) << sample.model;
  }
}

/// The same words, and numbers that are nearly the same.
void expect_same_words(const std::string& line, const std::string& wanted_line) {
  std::istringstream one(line), other(wanted_line);
  for (std::string word, wanted; other >> wanted;) {
    ASSERT_TRUE(one >> word);
    char* end = nullptr;
    const double number = std::strtod(wanted.c_str(), &end);
    if (*end == '\0')
      EXPECT_NEAR(std::stod(word), number, 1e-5 * (1 + std::abs(number))) << wanted_line;
    else
      EXPECT_EQ(word, wanted);
  }
}

using OldModelsPrediction = cli_test::Program;

TEST_F(OldModelsPrediction, OfProbabilitiesIsWhatItWas) {
  for (const Sample& sample : samples()) {
    if (!sample.model.ends_with("probability")) continue;
    SCOPED_TRACE(sample.model);
    const cli_test::Finished finished =
        run({"predict", folder / (sample.data + ".libsvm"), folder / (sample.model + ".model"),
             "--probability", "--quiet"});
    ASSERT_EQ(finished.code, 0) << finished.err;
    std::istringstream out(finished.out);
    for (const std::string& line : sample.printed) {
      std::string found;
      ASSERT_TRUE(std::getline(out, found));
      expect_same_words(found, line);
    }
  }
}

// tests/models/machines: a machine of every structural task, and others that have come since, with
// the data it was trained on and what `predict` said of that.
TEST_F(OldModelsPrediction, OfEveryMachineIsWhatItWasAndItsCertificateHolds) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "machines")) {
    if (entry.path().extension() != ".model") continue;
    ++count;
    const std::filesystem::path model = entry.path();
    std::filesystem::path data = model, said = model;
    data.replace_extension(".data");
    said.replace_extension(".said");
    SCOPED_TRACE(model.filename());
    const cli_test::Finished finished = run({"predict", data, model, "--quiet"});
    ASSERT_EQ(finished.code, 0) << finished.err;
    std::istringstream out(finished.out);
    for (const std::string& line : testing_tree::lines(said)) {
      std::string found;
      ASSERT_TRUE(std::getline(out, found));
      expect_same_words(found, line);
    }
    const cli_test::Finished judged = run({"verify", model, data});
    EXPECT_EQ(judged.code, 0) << judged.out << judged.err;
  }
  EXPECT_GE(count, 18);
}

}  // namespace
}  // namespace maxmargin::old_models_test
