// Training, checking and looking into models from the command line.
#include <zlib.h>

#include <numeric>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliTrain : public Program {
 protected:
  json train(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), "train");
    arguments.push_back("--json");
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, code) << finished.err;
    return finished.out.empty() ? json() : finished.json();
  }
};

TEST_F(CliTrain, JsonHoldsWhatScriptsRelyOn) {
  write("d", two_classes(200, 0.1));
  const json object = train({"d", "-o", "m", "--cost", "10", "--gamma", "2", "--threads", "2"});
  for (const std::string key : {"rows",
                                "features",
                                "classes",
                                "solver",
                                "ended",
                                "iterations",
                                "support_vectors",
                                "primal",
                                "dual",
                                "gap",
                                "relative_gap",
                                "kkt",
                                "seconds",
                                "peak_memory_bytes",
                                "reason",
                                "merged_rows",
                                "kernel",
                                "digest",
                                "model",
                                "mercer",
                                "threads"})
    EXPECT_TRUE(object.contains(key)) << key;
  for (const std::string key : {"read", "train", "certify"})
    EXPECT_TRUE(object["seconds"][key].is_number()) << key;
  EXPECT_EQ(object["rows"], 200);
  EXPECT_EQ(object["features"], 2);
  EXPECT_EQ(object["classes"], 2);
  EXPECT_EQ(object["ended"], "converged");
  EXPECT_EQ(object["kernel"]["name"], "rbf");
  EXPECT_EQ(object["kernel"]["gamma"], 2);
  EXPECT_LE(object["relative_gap"].get<double>(), 1e-3);
  EXPECT_LE(object["kkt"].get<double>(), 1e-3);
  EXPECT_GE(object["primal"].get<double>(), object["dual"].get<double>());
  EXPECT_TRUE(object["mercer"].get<bool>());
  EXPECT_TRUE(exists("m"));
}

TEST_F(CliTrain, SeveralMachinesAreListed) {
  write("d.csv", flowers(90));
  for (const std::string multiclass : {"ovo", "ovr"}) {
    const json object = train({"d.csv", "-o", "m", "--multiclass", multiclass});
    ASSERT_EQ(object["machines"].size(), 3u);
    double primal = 0, kkt = 0;
    for (const json& machine : object["machines"]) {
      primal += machine["primal"].get<double>();
      kkt = std::max(kkt, machine["kkt"].get<double>());
      for (const std::string key : {"support_vectors", "dual", "gap", "relative_gap", "ended"})
        EXPECT_TRUE(machine.contains(key)) << key;
    }
    EXPECT_NEAR(object["primal"].get<double>(), primal, 1e-9 * std::abs(primal));
    EXPECT_EQ(object["kkt"].get<double>(), kkt);
    EXPECT_EQ(object["class_names"], json({"iris", "rose", "tulip"}));
  }
}

TEST_F(CliTrain, TheSummaryTellsTheEssentials) {
  write("d", two_classes(100, 0.1));
  const Finished finished = run({"train", "d"});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");  // no terminal: no progress
  for (const std::string word : {"100 rows", "2 features", "2 classes", "smo", "primal", "dual",
                                 "gap", "KKT", "vectors", "memory", "d.model"})
    EXPECT_NE(finished.out.find(word), std::string::npos) << word << "\n" << finished.out;
  EXPECT_TRUE(exists("d.model"));
  EXPECT_EQ(run({"train", "d", "--quiet"}).out, "");
}

TEST_F(CliTrain, GammaFollowsTheDataWhenAskedTo) {
  write("d", "1 1:0 2:4\n-1 1:4 2:0\n1 1:0 2:0\n-1 1:4 2:4\n");  // variance 4, two features
  EXPECT_DOUBLE_EQ(train({"d"})["kernel"]["gamma"].get<double>(), 1.0 / 8);
  EXPECT_DOUBLE_EQ(train({"d", "--gamma", "scale"})["kernel"]["gamma"].get<double>(), 1.0 / 8);
  EXPECT_DOUBLE_EQ(train({"d", "--gamma", "auto"})["kernel"]["gamma"].get<double>(), 0.5);
  // After scaling to [-1, 1] the variance is 1.
  EXPECT_DOUBLE_EQ(train({"d", "--scale=range"})["kernel"]["gamma"].get<double>(), 0.5);
}

TEST_F(CliTrain, EveryKernelIsAccepted) {
  std::string text;  // chi-squared and hellinger need values >= 0
  Rng rng(5);
  for (int i = 0; i < 40; ++i) {
    const double x = rng.uniform(), z = rng.uniform();
    text += (x > z ? "1 1:" : "2 1:") + std::to_string(x) + " 2:" + std::to_string(z) + "\n";
  }
  write("d", text);
  for (const std::string kernel :
       {"linear", "polynomial", "rbf", "sigmoid", "laplacian", "chi-squared", "distance-rbf"}) {
    const Finished finished =
        run({"train", "d", "-o", "m", "--kernel", kernel, "--max-iterations", "100000", "--json"});
    if (kernel != "sigmoid") {  // which is indefinite, so that nothing is promised
      EXPECT_EQ(finished.code, 0) << kernel << finished.err;
    }
    const json object = finished.json();
    EXPECT_EQ(object["kernel"]["name"], kernel);
    EXPECT_EQ(object["mercer"], kernel != "sigmoid") << kernel;
  }
  const json manhattan = train({"d", "--kernel", "distance-rbf", "--distance", "manhattan"});
  EXPECT_EQ(manhattan["kernel"]["distance"], "manhattan");
}

TEST_F(CliTrain, TheSameBitsForAnyNumberOfThreads) {
  write("d", two_classes(300, 0.2));
  const json one = train({"d", "--threads", "1"});
  for (const std::string threads : {"2", "3"})
    EXPECT_EQ(train({"d", "--threads", threads})["digest"], one["digest"]);
}

TEST_F(CliTrain, ARowOfWeightThreeCountsThreeTimes) {
  const std::string once = "1 1:0.1\n1 1:0.7\n-1 1:0.4\n-1 1:-0.9\n";
  write("weighted", once);
  write("w", "1\n1\n3\n0\n");
  write("repeated", "1 1:0.1\n1 1:0.7\n-1 1:0.4\n-1 1:0.4\n-1 1:0.4\n");
  const auto primal = [](const json& object) { return object["primal"].get<double>(); };
  const json a =
      train({"weighted", "--weights", "w", "--gamma", "1", "--gap", "1e-9", "--tolerance", "1e-9"});
  const json b = train({"repeated", "--gamma", "1", "--gap", "1e-9", "--tolerance", "1e-9"});
  EXPECT_NEAR(primal(a), primal(b), 1e-8);
  write("column.csv", "class,x,w\n1,0.1,1\n1,0.7,1\n-1,0.4,3\n-1,-0.9,0\n");
  const json c = train({"column.csv", "--weight-column", "w", "--gamma", "1", "--gap", "1e-9",
                        "--tolerance", "1e-9"});
  EXPECT_EQ(c["features"], 1);
  EXPECT_NEAR(primal(c), primal(b), 1e-8);
}

TEST_F(CliTrain, BalancedClassWeightsAreFactorsOfTheCost) {
  write("d", two_classes(60, 0.1) + "1 1:0.5\n1 1:0.25\n1 1:0.75 2:0.1\n1 1:0.3\n");
  const std::string text = text_of("d");
  double positives = 0, rows = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); ++rows) positives += line[0] != '-';
  const json balanced = train({"d", "--class-weight", "balanced", "--gap", "1e-8"});
  const auto factor = [&](double count) {
    std::ostringstream number;
    number.precision(17);
    number << rows / (2 * count);
    return number.str();
  };
  const json by_hand = train({"d", "--class-weight", "+1=" + factor(positives), "--class-weight",
                              "-1=" + factor(rows - positives), "--gap", "1e-8"});
  EXPECT_NEAR(balanced["primal"].get<double>(), by_hand["primal"].get<double>(), 1e-9);
}

TEST_F(CliTrain, GzipAndStandardInput) {
  const std::string text = two_classes(80, 0.1);
  write("d", text);
  gzFile packed = gzopen(path("d.gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(packed, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  gzclose(packed);
  const json plain = train({"d"});
  EXPECT_EQ(train({"d.gz"})["digest"], plain["digest"]);
  const Finished piped = run({"train", "-", "-o", "m", "--json"}, text);
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.json()["digest"], plain["digest"]);
}

TEST_F(CliTrain, UnscaledDataIsWarnedAbout) {
  write("d", "1 1:0.001 2:90000\n-1 1:0.002 2:10000\n1 1:0.003 2:80000\n-1 1:0.001 2:20000\n");
  EXPECT_NE(run({"train", "d"}).err.find("--scale"), std::string::npos);
  EXPECT_EQ(run({"train", "d", "--scale"}).err, "");
}

TEST_F(CliTrain, VerifyConfirmsACertificate) {
  write("d", two_classes(100, 0.1));
  write("r", curve(100));
  write("f.csv", flowers(60));
  const std::vector<std::vector<std::string>> runs = {
      {"d", "-o", "m"},
      {"d", "-o", "m", "--scale=deviation", "--class-weight", "1=2"},
      {"d", "-o", "m", "--task", "one-class", "--nu", "0.2"},
      {"r", "-o", "m", "--task", "svr", "--epsilon", "0.05", "--over", "2"},
      {"f.csv", "-o", "m", "--label", "class", "--multiclass", "ovr"}};
  for (const auto& arguments : runs) {
    const std::string shown = testing::PrintToString(arguments);
    train(arguments);
    const Finished text = run({"verify", "m", arguments[0]});
    EXPECT_EQ(text.code, 0) << shown << text.out << text.err;
    EXPECT_NE(text.out.find("holds"), std::string::npos);
    const Finished finished = run({"verify", "m", arguments[0], "--json"});
    EXPECT_TRUE(finished.json()["holds"].get<bool>()) << shown;
  }
  train({"d", "-o", "m"});
  write("other", two_classes(100, 0.1, 99));
  const Finished finished = run({"verify", "m", "other"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_TRUE(finished.err.starts_with("maxmargin: other: ")) << finished.err;
}

TEST_F(CliTrain, InspectShowsWhatIsInside) {
  write("f.csv", flowers(60));
  const json trained = train({"f.csv", "-o", "m", "--scale=unit", "--cost", "3"});
  const json object = run({"inspect", "m", "--json"}).json();
  EXPECT_EQ(object["digest"], trained["digest"]);
  EXPECT_EQ(object["rows"], 60);
  EXPECT_EQ(object["machines"].size(), 3u);
  EXPECT_EQ(object["scaling"]["kind"], "unit");
  EXPECT_EQ(object["options"]["cost"], "3");
  EXPECT_EQ(object["feature_names"], json({"length", "width"}));
  EXPECT_EQ(object["bytes"], std::filesystem::file_size(path("m")));
  const Finished text = run({"inspect", "m"});
  for (const std::string word : {"rbf", "rose against iris", "tulip", "unit", "length"})
    EXPECT_NE(text.out.find(word), std::string::npos) << word << text.out;
}

TEST_F(CliTrain, CheckTellsWhatIsOdd) {
  write("d", "1 1:1 2:5 3:0.5\n1 1:1 2:5 3:0.5\n-1 1:1 2:5 3:0.5\n-1 1:2 2:5\n");
  const json object = run({"check", "d", "--json"}).json();
  EXPECT_EQ(object["rows"], 4);
  EXPECT_EQ(object["features"], 3);
  EXPECT_EQ(object["duplicate_rows"], 1);
  EXPECT_EQ(object["contradictory_rows"], 3);
  EXPECT_EQ(object["constant_features"], json({"2"}));
  EXPECT_EQ(object["classes"][0]["rows"], 2);
  EXPECT_FALSE(object.contains("mercer"));
  const Finished text = run({"check", "d"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("constant"), std::string::npos);

  const json rbf = run({"check", "d", "--kernel", "rbf", "--json"}).json();
  EXPECT_TRUE(rbf["mercer"]["holds"].get<bool>());
  const json sigmoid =
      run({"check", "d", "--kernel", "sigmoid", "--coef0", "-20", "--json"}).json();
  EXPECT_FALSE(sigmoid["mercer"]["holds"].get<bool>());
  EXPECT_GT(sigmoid["mercer"]["negative_share"].get<double>(), 0.0);
}

// x1 x2 + 1 of points on a line, with the numbers of rows as index 0 where LIBSVM has them.
std::string kernel_rows(const std::vector<int>& points, int training, bool serials) {
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    text += points[i] % 3 == 0 ? "1" : "-1";
    if (serials) text += " 0:" + std::to_string(i + 1);
    for (int j = 0; j < training; ++j)
      text += " " + std::to_string(j + 1) + ":" + std::to_string(points[i] * j + 1);
    text += "\n";
  }
  return text;
}

TEST_F(CliTrain, APrecomputedKernelMayHaveTheFormOfLibsvm) {
  std::vector<int> points(12);
  std::iota(points.begin(), points.end(), 0);
  const std::vector<int> others{5, 20, -3};
  std::vector<json> told;
  std::vector<std::string> said;
  for (const bool serials : {false, true}) {
    write("k", kernel_rows(points, 12, serials));
    write("t", kernel_rows(others, 12, serials));
    told.push_back(run({"train", "k", "-o", "m", "--kernel", "precomputed", "--json"}).json());
    said.push_back(run({"predict", "t", "m", "--decision-values", "--quiet"}).out);
    EXPECT_EQ(run({"verify", "m", "k"}).code, 0) << serials;
    EXPECT_EQ(run({"check", "k", "--kernel", "precomputed"}).code, 0) << serials;
  }
  EXPECT_EQ(told[0]["digest"], told[1]["digest"]);
  EXPECT_EQ(told[1]["features"], 12);
  EXPECT_EQ(said[0], said[1]);
  EXPECT_EQ(count_lines(said[0]), 3u);
  // Without numbers, the model reads a file that has none as well.
  write("t", kernel_rows(others, 12, false));
  EXPECT_EQ(run({"predict", "t", "m", "--decision-values", "--quiet"}).out, said[0]);
}

TEST_F(CliTrain, WrongNumbersOfRowsOfAPrecomputedKernelAreNamed) {
  write("k", "1 0:1 1:1 2:0\n-1 0:3 1:0 2:1\n");
  const Finished refused = run({"train", "k", "-o", "m", "--kernel", "precomputed"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("index 0 of row 2 is not 2"), std::string::npos) << refused.err;
  // A matrix that counts from 0 is one.
  write("k", "1 0:2 1:0.5\n-1 0:0.5 1:3\n");
  EXPECT_EQ(run({"train", "k", "-o", "m", "--kernel", "precomputed", "--quiet"}).code, 0);
}

}  // namespace
}  // namespace maxmargin::cli_test
