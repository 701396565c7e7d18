// Restarts, paths and estimates as a user has them.
#include <algorithm>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliPath : public Program {
 protected:
  void refuses(const std::vector<std::string>& arguments, const std::string& part, int code = 2) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1) << finished.err;
  }
};

TEST_F(CliPath, ARestartLeadsToTheSameOptimum) {
  write("d", two_classes(60, 0.2));
  EXPECT_EQ(run({"train", "d", "-o", "a", "--cost", "10", "--gap", "1e-6"}).code, 0);
  const json cold = run({"train", "d", "-o", "b", "--gap", "1e-6", "--json"}).json();
  const json warm =
      run({"train", "d", "-o", "c", "--gap", "1e-6", "--start", "a", "--json"}).json();
  EXPECT_NEAR(warm["primal"], cold["primal"], 3e-6 * std::abs(cold["primal"].get<double>()));
  EXPECT_EQ(run({"verify", "c", "d"}).code, 0);
}

TEST_F(CliPath, StartsThatDoNotFitAreRefusedInOneLine) {
  write("d", two_classes(40, 0.2));
  ASSERT_EQ(run({"train", "d", "-o", "m"}).code, 0);
  refuses({"train", "d", "-o", "n", "--start", "m", "--kernel", "linear"}, "its kernel is rbf");
  refuses({"train", "d", "-o", "n", "--start", "m", "--task", "one-class"}, "its task is svc");
  refuses({"train", "d", "-o", "n", "--start", "m", "--scale"}, "not scaled");
  refuses({"train", "d", "--start", "m", "--cross-validate", "3"}, "--start has no effect");
  refuses({"train", "d", "-o", "n", "--start", "nowhere"}, "nowhere", 6);
  EXPECT_FALSE(exists("n"));
}

TEST_F(CliPath, LambdaStatesTheCost) {
  write("d", two_classes(50, 0.2));
  const json by_cost = run({"train", "d", "-o", "m", "--cost", "2", "--json"}).json();
  const json by_lambda = run({"train", "d", "-o", "m", "--lambda", "0.01", "--json"}).json();
  ASSERT_EQ(by_cost["rows"], 50);
  EXPECT_EQ(by_cost["digest"], by_lambda["digest"]);
  refuses({"train", "d", "--lambda", "1", "--cost", "1"}, "state the same");
  refuses({"train", "d", "--lambda", "1", "--task", "one-class"}, "no effect");
  refuses({"train", "d", "--lambda", "0"}, "--lambda");
}

TEST_F(CliPath, HasACertificateAtEveryPoint) {
  write("d", two_classes(60, 0.3));
  const Finished finished = run({"path", "d", "--costs", "100:0.1", "--points", "4", "--folds", "3",
                                 "--csv", "p.csv", "--svg", "p.svg", "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const json path = finished.json();
  ASSERT_EQ(path["points"].size(), 4u);
  EXPECT_TRUE(path["violations"].empty());
  EXPECT_DOUBLE_EQ(path["points"][0]["cost"], 100);
  EXPECT_DOUBLE_EQ(path["points"][3]["cost"], 0.1);
  for (const json& point : path["points"]) {
    EXPECT_LE(point["relative_gap"], 1e-3);
    EXPECT_GE(point["error"], 0);
    EXPECT_NEAR(
        point["lambda"].get<double>() * point["cost"].get<double>() * path["rows"].get<double>(), 1,
        1e-12);
  }
  const std::string csv = text_of("p.csv");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_EQ(csv.find("cost,lambda,ended"), 0u);
  const std::string svg = text_of("p.svg");
  EXPECT_EQ(svg.find("<svg"), 0u);
  for (const char* title : {"training loss", "margin", "support vectors", "error out of fold"})
    EXPECT_NE(svg.find(title), std::string::npos) << title;
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
  EXPECT_EQ(run({"path", "d", "--gammas", "2,1,0.5", "--cost", "3"}).code, 0);
  const Finished table = run({"path", "d", "--lambdas", "0.001:1", "--points", "3"});
  EXPECT_EQ(table.code, 0);
  EXPECT_NE(table.out.find("(10.25)"), std::string::npos) << table.out;
}

TEST_F(CliPath, ValuesThatMakeNoPathAreRefused) {
  write("d", two_classes(20, 0.2));
  refuses({"path", "d"}, "a path needs values");
  refuses({"path", "d", "--costs", "1:10", "--gammas", "1:2"}, "one parameter");
  refuses({"path", "d", "--costs", "1,10,2"}, "in no order");
  refuses({"path", "d", "--costs", "1:x"}, "--costs");
  refuses({"path", "d", "--costs", "5:5"}, "both ends");
  refuses({"path", "d", "--costs", "0,1"}, "--costs");
  refuses({"path", "d", "--costs", "1:10", "--cost", "3"}, "--cost has no effect");
  refuses({"path", "d", "--costs", "1:10", "--task", "nu-svc", "--nu", "0.1"}, "no cost");
  refuses({"path", "d", "--gammas", "1:10", "--kernel", "linear"}, "no width");
}

TEST_F(CliPath, EstimatesStandBesideTheTruth) {
  write("d", two_classes(30, 0.3));
  ASSERT_EQ(run({"train", "d", "-o", "m"}).code, 0);
  const Finished finished =
      run({"estimate", "m", "d", "--leave-one-out", "--true", "--tolerance", "1e-6", "--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const json found = finished.json();
  const double truth = found["true_leave_one_out"]["error"];
  EXPECT_NEAR(found["leave_one_out"]["error"], truth, 0.05);
  EXPECT_GE(found["support_share"], truth);
  EXPECT_GE(found["xi_alpha"], truth);
  EXPECT_GE(found["radius_margin"], truth);
  EXPECT_NE(run({"estimate", "m", "d"}).out.find("xi-alpha"), std::string::npos);
  write("other", two_classes(31, 0.3));
  refuses({"estimate", "m", "other"}, "not the data the model was trained on", 3);
  ASSERT_EQ(run({"train", "d", "-o", "low", "--approximate", "random", "--rank", "5"}).code, 0);
  refuses({"estimate", "low", "d"}, "estimates need the dual variables");
}

TEST_F(CliPath, CrammerSingerAndL1AreChosenByName) {
  write("d", two_classes(60, 0.3));
  const json together =
      run({"train", "d", "-o", "cs", "--multiclass", "crammer-singer", "--json"}).json();
  EXPECT_EQ(together["solver"], "crammer-singer");
  EXPECT_EQ(run({"verify", "cs", "d"}).code, 0);
  EXPECT_EQ(run({"predict", "d", "cs"}).code, 0);
  const json program = run({"train", "d", "-o", "lp", "--regulariser", "l1", "--json"}).json();
  EXPECT_EQ(program["solver"], "linear-program");
  EXPECT_LE(program["relative_gap"], 1e-3);
  EXPECT_EQ(run({"verify", "lp", "d"}).code, 0);
  refuses({"train", "d", "--multiclass", "crammer-singer", "--bias", "unpenalised"},
          "it has no free bias");
  refuses({"train", "d", "--multiclass", "crammer-singer", "--task", "nu-svc"}, "take --task svc");
  refuses({"train", "d", "--multiclass", "crammersinger"}, "crammer-singer");
  refuses({"train", "d", "--regulariser", "l3"}, "--regulariser");
  refuses({"train", "d", "--regulariser", "l1", "--loss", "squared-hinge"}, "piecewise linear");
  refuses({"train", "d", "--start", "lp"}, "no dual variables");
  refuses({"estimate", "lp", "d"}, "no dual variables");
  // The class with the largest f wins all of its pairs.
  EXPECT_EQ(run({"convert", "cs", "-o", "pairs"}).code, 0);
  EXPECT_EQ(run({"predict", "d", "cs", "-o", "one"}).code, 0);
  EXPECT_EQ(run({"predict", "d", "pairs", "-o", "other"}).code, 0);
  EXPECT_EQ(text_of("one"), text_of("other"));
  refuses({"train", "d", "--candidates", "5"}, "--candidates has no effect");
  EXPECT_EQ(
      run({"train", "d", "-o", "s", "--approximate", "sgma", "--rank", "5", "--candidates", "7"})
          .code,
      0);
}

}  // namespace
}  // namespace maxmargin::cli_test
