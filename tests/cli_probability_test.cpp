// Probabilities and cross-validation from the command line.
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliProbability : public Program {
 protected:
  Finished succeed(const std::vector<std::string>& arguments) {
    Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished;
  }
  /// Three classes on a line, with some noise.
  static std::string three_classes(int rows, std::uint64_t seed) {
    Rng rng(seed);
    std::ostringstream text;
    for (int i = 0; i < rows; ++i) {
      const double x = rng.uniform(-3, 3);
      const double noisy = x + 0.5 * rng.normal();
      text << (noisy < -1 ? "low" : noisy > 1 ? "high" : "mid") << " 1:" << x << '\n';
    }
    return text.str();
  }
};

TEST_F(CliProbability, TheLargestProbabilityIsThatOfTheLabelThatPlainPredictGives) {
  write("d", three_classes(200, 1));
  write("t", three_classes(100, 2));
  for (const std::string multiclass : {"ovo", "ovr"}) {
    succeed({"train", "d", "-o", "m", "--gamma", "1", "--probability", "--multiclass", multiclass});
    std::istringstream plain(succeed({"predict", "t", "m"}).out);
    std::istringstream lines(succeed({"predict", "t", "m", "--probability"}).out);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "labels high low mid");
    const std::vector<std::string> names{"high", "low", "mid"};
    int rows = 0;
    for (std::string expected; std::getline(plain, expected); ++rows) {
      std::string label;
      std::vector<double> p(3);
      lines >> label >> p[0] >> p[1] >> p[2];
      EXPECT_EQ(label, expected);
      EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-9);
      EXPECT_EQ(names[static_cast<std::size_t>(std::ranges::max_element(p) - p.begin())], label);
    }
    EXPECT_EQ(rows, 100);
    const json object = succeed({"predict", "t", "m", "--probability", "--json"}).json();
    EXPECT_EQ(object["class_names"], json(names));
    EXPECT_LT(object["log_loss"].get<double>(), 0.8);  // without knowledge: log 3
    ASSERT_EQ(object["predictions"].size(), 100u);
    EXPECT_EQ(object["predictions"][0]["probabilities"].size(), 3u);
  }
}

TEST_F(CliProbability, SeedsMakeRunsRepeatable) {
  write("d", three_classes(150, 3));
  const auto digest = [&](const std::string& seed) {
    return succeed({"train", "d", "-o", "m", "--probability=3", "--seed", seed, "--json"})
        .json()["digest"];
  };
  EXPECT_EQ(digest("1"), digest("1"));
  EXPECT_NE(digest("1"), digest("2"));
  const json shown = succeed({"inspect", "m", "--json"}).json();
  EXPECT_EQ(shown["calibration"]["folds"], 3);
  EXPECT_EQ(shown["calibration"]["sigmoids"].size(), 3u);
  EXPECT_NE(succeed({"inspect", "m"}).out.find("from 3 folds"), std::string::npos);
}

TEST_F(CliProbability, IntervalsOfARegression) {
  Rng rng(4);
  std::string text;
  for (int i = 0; i < 200; ++i) {
    const double x = rng.uniform(-2, 2);
    text += std::to_string(x * x + 0.3 * rng.normal()) + " 1:" + std::to_string(x) + "\n";
  }
  write("d", text);
  succeed({"train", "d", "-o", "m", "--task", "svr", "--gamma", "1", "--probability"});
  const json wide = succeed({"predict", "d", "m", "--probability", "--json"}).json();
  const json narrow =
      succeed({"predict", "d", "m", "--probability", "--level", "0.5", "--json"}).json();
  EXPECT_NEAR(wide["covered"].get<double>(), 0.9, 0.08);
  EXPECT_NEAR(narrow["covered"].get<double>(), 0.5, 0.12);
  const json& row = wide["predictions"][0];
  EXPECT_LT(row["lower"].get<double>(), row["value"].get<double>());
  EXPECT_GT(row["upper"].get<double>(), row["value"].get<double>());
  const std::string lines = succeed({"predict", "d", "m", "--probability"}).out;
  EXPECT_EQ(lines.substr(0, lines.find('\n')), "value lower upper");
  EXPECT_EQ(count_lines(lines), 201u);
}

TEST_F(CliProbability, PValuesOfNovelty) {
  Rng rng(5);
  std::string text;
  for (int i = 0; i < 100; ++i)
    text += "1 1:" + std::to_string(rng.normal()) + " 2:" + std::to_string(rng.normal()) + "\n";
  write("d", text);
  write("far", "-1 1:9 2:9\n1 1:0.1 2:0.1\n");
  succeed({"train", "d", "-o", "m", "--task", "one-class", "--gamma", "0.5", "--probability"});
  const json object = succeed({"predict", "far", "m", "--probability", "--json"}).json();
  EXPECT_NEAR(object["predictions"][0]["p_value"].get<double>(), 1 / 101.0, 1e-9);
  EXPECT_EQ(object["predictions"][0]["label"], -1);
  EXPECT_GT(object["predictions"][1]["p_value"].get<double>(), 0.2);
}

TEST_F(CliProbability, WhatHasNoEffectIsRefused) {
  write("d", three_classes(60, 6));
  succeed({"train", "d", "-o", "m"});
  const Finished none = run({"predict", "d", "m", "--probability"});
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("train it with --probability"), std::string::npos);
  EXPECT_EQ(run({"train", "d", "-o", "m", "--cross-validate", "5"}).code, 2);
  EXPECT_EQ(run({"train", "d", "--probability", "--cross-validate", "5"}).code, 2);
  EXPECT_EQ(run({"train", "d", "--cross-validate", "1"}).code, 2);
  EXPECT_EQ(run({"train", "d", "--cross-validate", "61"}).code, 2);
  EXPECT_EQ(run({"train", "d", "-o", "m", "--probability=1"}).code, 2);
  succeed({"train", "d", "-o", "m", "--probability"});
  EXPECT_EQ(run({"predict", "d", "m", "--probability", "--decision-values"}).code, 2);
  EXPECT_EQ(run({"predict", "d", "m", "--probability", "--level", "0.5"}).code, 2);
}

TEST_F(CliProbability, CrossValidationTellsHowWellUnseenRowsArePredicted) {
  write("d", three_classes(200, 7));
  const std::vector<std::string> arguments{"train", "d", "--gamma", "1", "--cross-validate", "5"};
  const Finished shown = succeed(arguments);
  EXPECT_NE(shown.out.find("accuracy: "), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{"d"});  // no model
  std::vector<std::string> asked = arguments;
  asked.insert(asked.end(), {"--json", "--seed", "3"});
  const json object = succeed(asked).json();
  EXPECT_EQ(object["folds"], 5);
  EXPECT_GT(object["accuracy"].get<double>(), 0.6);
  EXPECT_LT(object["accuracy"].get<double>(), 0.95);
  EXPECT_EQ(object["accuracy"], succeed(asked).json()["accuracy"]);
}

}  // namespace
}  // namespace maxmargin::cli_test
