// Prediction from the command line.
#include <sys/stat.h>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliPredict : public Program {
 protected:
  void train(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "train");
    arguments.push_back("--quiet");
    const Finished finished = run(arguments);
    ASSERT_EQ(finished.code, 0) << finished.err;
  }
};

TEST_F(CliPredict, LabelsAndAccuracy) {
  write("d", two_classes(300, 0.05));
  write("t", two_classes(200, 0.0, 7));
  train({"d", "-o", "m", "--cost", "10", "--gamma", "2"});

  const Finished shown = run({"predict", "t", "m"});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(count_lines(shown.out), 200u);
  EXPECT_NE(shown.err.find("accuracy: "), std::string::npos);

  const Finished filed = run({"predict", "t", "m", "-o", "p"});
  EXPECT_EQ(text_of("p"), shown.out);
  EXPECT_EQ(filed.out, shown.err);  // with a file, the summary is the output
  EXPECT_EQ(filed.err, "");

  // The accuracy is what comparing line by line gives.
  std::istringstream labels(text_of("t")), predictions(shown.out);
  int correct = 0;
  for (std::string label, predicted; std::getline(labels, label);) {
    std::getline(predictions, predicted);
    EXPECT_TRUE(predicted == "1" || predicted == "-1") << predicted;
    correct += (label[0] == '+') == (predicted == "1");
  }
  EXPECT_GT(correct, 180);
  EXPECT_NE(filed.out.find("(" + std::to_string(correct) + " of 200)"), std::string::npos);

  const json object = run({"predict", "t", "m", "--json"}).json();
  EXPECT_EQ(object["correct"], correct);
  EXPECT_EQ(object["accuracy"].get<double>(), correct / 200.0);
  ASSERT_EQ(object["predictions"].size(), 200u);
  EXPECT_TRUE(object["predictions"][0] == 1 || object["predictions"][0] == -1);
  const json brief = run({"predict", "t", "m", "--json", "-o", "p"}).json();
  EXPECT_FALSE(brief.contains("predictions"));
  EXPECT_EQ(brief["output"], "p");
}

TEST_F(CliPredict, DecisionValuesDecide) {
  write("d", two_classes(100, 0.05));
  train({"d", "-o", "m"});
  std::istringstream values(run({"predict", "d", "m", "--decision-values"}).out);
  std::istringstream labels(run({"predict", "d", "m"}).out);
  const json machine = run({"inspect", "m", "--json"}).json()["machines"][0];
  for (double value, label; values >> value;) {
    labels >> label;
    EXPECT_EQ(value > 0 ? machine["positive"] : machine["negative"], label > 0 ? "1" : "-1");
  }
  write("f.csv", flowers(60));
  train({"f.csv", "-o", "m"});
  std::istringstream rows(run({"predict", "f.csv", "m", "--decision-values"}).out);
  std::string line;
  ASSERT_TRUE(std::getline(rows, line));
  EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 2);  // three machines
}

TEST_F(CliPredict, WordsAsLabelsAndTablesWithoutThem) {
  write("f.csv", flowers(90));
  train({"f.csv", "-o", "m", "--scale"});
  const Finished labelled = run({"predict", "f.csv", "m"});
  EXPECT_EQ(labelled.out.substr(0, 16), "iris\nrose\ntulip\n");
  EXPECT_NE(labelled.err.find("accuracy: "), std::string::npos);

  write("bare.csv", "length,width\n0,0\n1,1\n2,4\n");
  const Finished bare = run({"predict", "bare.csv", "m"});
  EXPECT_EQ(bare.code, 0) << bare.err;
  EXPECT_EQ(bare.out, "iris\nrose\ntulip\n");
  EXPECT_EQ(bare.err, "");
  const Finished piped =
      run({"predict", "-", "m", "--format", "csv", "--label", "none"}, "0,0\n1,1\n2,4\n");
  EXPECT_EQ(piped.out, bare.out) << piped.err;

  write("wrong.csv", "length,depth,class\n0,0,iris\n");
  const Finished wrong = run({"predict", "wrong.csv", "m"});
  EXPECT_EQ(wrong.code, 3);
  EXPECT_NE(wrong.err.find("depth"), std::string::npos) << wrong.err;
}

TEST_F(CliPredict, Regression) {
  write("d", curve(200));
  train({"d", "-o", "m", "--task", "svr", "--cost", "10", "--epsilon", "0.05"});
  const Finished finished = run({"predict", "d", "m", "-o", "p"});
  for (const std::string word :
       {"mean squared error", "mean absolute error", "squared correlation"})
    EXPECT_NE(finished.out.find(word), std::string::npos) << finished.out;
  const json object = run({"predict", "d", "m", "--json"}).json();
  std::istringstream labels(text_of("d")), predictions(text_of("p"));
  double squares = 0, predicted = 0;
  std::size_t row = 0;
  for (std::string line; std::getline(labels, line) && predictions >> predicted; ++row) {
    squares += std::pow(predicted - std::stod(line), 2);
    EXPECT_EQ(object["predictions"][row].get<double>(), predicted);  // to the last bit
  }
  EXPECT_NEAR(object["mean_squared_error"].get<double>(), squares / 200, 1e-9);
  EXPECT_LT(squares / 200, 0.02);
  EXPECT_GT(object["squared_correlation"].get<double>(), 0.98);
  EXPECT_LE(object["squared_correlation"].get<double>(), 1.0);
}

TEST_F(CliPredict, Novelty) {
  write("d", two_classes(200, 0));
  train({"d", "-o", "m", "--task", "one-class", "--nu", "0.1", "--gamma", "1"});
  const Finished finished = run({"predict", "d", "m"});
  const auto novel =
      static_cast<std::size_t>(std::count(finished.out.begin(), finished.out.end(), '-'));
  EXPECT_GT(novel, 5u);
  EXPECT_LT(novel, 40u);
  EXPECT_NE(finished.err.find("novel rows: "), std::string::npos);
  EXPECT_EQ(run({"predict", "d", "m", "--json"}).json()["novel"], novel);
}

TEST_F(CliPredict, StreamsStandardInputInPieces) {
  write("d", two_classes(100, 0.05));
  train({"d", "-o", "m"});
  const std::string many = two_classes(20000, 0.05, 11);
  write("t", many);
  const Finished piped = run({"predict", "-", "m"}, many);
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(count_lines(piped.out), 20000u);
  const Finished from_file = run({"predict", "t", "m", "--threads", "1"});
  EXPECT_EQ(piped.out, from_file.out);
  EXPECT_EQ(piped.err, from_file.err);
}

TEST_F(CliPredict, TheScalingTravelsWithTheModel) {
  Rng rng(4);
  std::ostringstream raw, scaled;  // feature 1 from 0 to 1000, feature 2 from 0 to 0.001
  raw.precision(17);
  scaled.precision(17);
  raw << "1 1:0 2:0\n-1 1:1000 2:0.001\n";
  scaled << "1 1:-1 2:-1\n-1 1:1 2:1\n";
  for (int i = 0; i < 60; ++i) {
    const double a = rng.uniform(), b = rng.uniform();
    const char* label = a > b ? "1" : "-1";
    raw << label << " 1:" << 1000 * a << " 2:" << 0.001 * b << "\n";
    scaled << label << " 1:" << 2 * a - 1 << " 2:" << 2 * b - 1 << "\n";
  }
  write("raw", raw.str());
  write("scaled", scaled.str());
  train({"raw", "-o", "m1", "--scale=range", "--gamma", "1", "--gap", "1e-7"});
  train({"scaled", "-o", "m2", "--gamma", "1", "--gap", "1e-7"});
  std::istringstream one(run({"predict", "raw", "m1", "--decision-values"}).out);
  std::istringstream two(run({"predict", "scaled", "m2", "--decision-values"}).out);
  int rows = 0;
  for (double a, b; one >> a && two >> b; ++rows) EXPECT_NEAR(a, b, 1e-2);
  EXPECT_EQ(rows, 62);
}

TEST_F(CliPredict, AnInterruptLeavesNoPieceOfAFile) {
  write("d", two_classes(100, 0.05));
  train({"d", "-o", "m"});
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const auto before = signal(SIGPIPE, SIG_IGN);  // the program ends while it is written to
  const Finished finished = run({"predict", "pipe", "m", "-o", "p"}, {}, [&](pid_t child) {
    std::ofstream writer(path("pipe"));
    // More than a pipe holds: some of it has been read when all is written. The rest never comes.
    writer << two_classes(10000, 0) << std::flush;
    kill(child, SIGINT);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  });
  signal(SIGPIPE, before);
  EXPECT_EQ(finished.code, -SIGINT);
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "m", "pipe"}));
}

TEST_F(CliPredict, ModelAndDataInTheWrongOrder) {
  write("d", two_classes(20, 0));
  train({"d", "-o", "m"});
  const Finished swapped = run({"predict", "m", "d"});
  EXPECT_EQ(swapped.code, 2);
  EXPECT_NE(swapped.err.find("predict DATA MODEL"), std::string::npos) << swapped.err;
  EXPECT_EQ(run({"verify", "d", "m"}).code, 2);
}

TEST_F(CliPredict, FewerOrNewFeaturesThanTheModelKnows) {
  write("d", two_classes(100, 0.05));
  train({"d", "-o", "m"});
  write("fewer", "1 1:0.5\n");
  EXPECT_EQ(run({"predict", "fewer", "m"}).code, 0);
  write("more", "1 1:0.5 7:1\n");
  EXPECT_EQ(run({"predict", "more", "m"}).code, 0);
  // How to scale a feature that was not there in training nobody knows.
  train({"d", "-o", "scaled", "--scale"});
  const Finished more = run({"predict", "more", "scaled"});
  EXPECT_EQ(more.code, 3);
  EXPECT_EQ(count_lines(more.err), 1u) << more.err;
}

// The training file has an index 0, the test file has not: still it counts from 0.
TEST_F(CliPredict, AModelKnowsWhereItsIndicesBegin) {
  std::string data;
  for (int i = 0; i < 40; ++i) data += i % 2 == 0 ? "1 0:1 1:0.1\n" : "-1 0:0.1 1:1\n";
  write("d", data);
  train({"d", "-o", "m"});
  write("t", "-1 1:1\n");
  EXPECT_EQ(run({"predict", "t", "m"}).out, "-1\n");
}

}  // namespace
}  // namespace maxmargin::cli_test
