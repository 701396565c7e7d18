// Unpenalised functions beside the kernel part, from the command line.
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

/// price = 2 log(area) - 0.5 age + a little of sin(age), as CSV with names.
std::string houses(std::size_t rows) {
  Rng rng(4);
  std::ostringstream text;
  text << "floor area,age,price\n";
  for (std::size_t i = 0; i < rows; ++i) {
    const double area = rng.uniform(1, 9), age = rng.uniform(0, 6);
    text << area << "," << age << ","
         << 2 * std::log(area) - 0.5 * age + 0.1 * std::sin(3 * age) + 0.02 * rng.normal() << "\n";
  }
  return text.str();
}

class CliSemiParametric : public Program {
 protected:
  void expect_refused(const std::string& data, std::vector<std::string> arguments, int code,
                      const std::string& part) {
    arguments.insert(arguments.begin(), {"train", data, "-o", "bad"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, code) << finished.err;
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_EQ(count_lines(finished.err), 1u) << finished.err;
    EXPECT_FALSE(exists("bad"));
  }
};

TEST_F(CliSemiParametric, ExpressionsAreTrainedShownAppliedAndVerified) {
  write("d.csv", houses(150));
  const Finished trained =
      run({"train", "d.csv", "-o", "m", "--label", "price", "--task", "svr", "--epsilon", "0.02",
           "--cost", "0.05", "--gamma", "1", "--parametric", "log([floor area])", "--parametric",
           "age", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json functions = trained.json()["functions"];
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0]["function"], "log([floor area])");
  EXPECT_NEAR(functions[0]["coefficient"].get<double>(), 2, 0.1);
  EXPECT_NEAR(functions[1]["coefficient"].get<double>(), -0.5, 0.05);
  EXPECT_NE(trained.json()["reason"].get<std::string>().find("equality rows"), std::string::npos);

  const json inspected = run({"inspect", "m", "--json"}).json();
  EXPECT_EQ(inspected["machines"][0]["functions"], functions);
  EXPECT_NE(run({"inspect", "m"}).out.find("log([floor area])"), std::string::npos);
  const Finished verified = run({"verify", "m", "d.csv"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  const Finished predicted = run({"predict", "d.csv", "m", "--json"});
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_LT(predicted.json()["mean_squared_error"].get<double>(), 0.01);

  // What it says of rows far away is the functions' doing alone.
  write("far.csv", "floor area,age\n1,1000\n1,1001\n");
  std::istringstream lines(run({"predict", "far.csv", "m"}).out);
  double first = 0, second = 0;
  lines >> first >> second;
  EXPECT_NEAR(second - first, functions[1]["coefficient"].get<double>(), 1e-9);
  write("none.csv", "floor area,age\n1,1\n0,1\n");
  const Finished undefined = run({"predict", "none.csv", "m"});
  EXPECT_EQ(undefined.code, 3);
  EXPECT_NE(undefined.err.find("'log([floor area])' is -inf in row 2"), std::string::npos);
}

TEST_F(CliSemiParametric, ColumnsAndClassesAndFolds) {
  write("d.csv", flowers(90));
  const Finished trained = run({"train", "d.csv", "-o", "m", "--gamma", "1", "--parametric-column",
                                "width", "--scale", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json machines = trained.json()["machines"];
  ASSERT_EQ(machines.size(), 3u);
  for (const json& machine : machines) {
    EXPECT_EQ(machine["functions"][0]["kind"], "column");
    EXPECT_EQ(machine["functions"][0]["function"], "width");
  }
  EXPECT_EQ(run({"verify", "m", "d.csv"}).code, 0);
  EXPECT_GT(run({"predict", "d.csv", "m", "--json"}).json()["accuracy"].get<double>(), 0.9);
  const Finished folds = run({"train", "d.csv", "--gamma", "1", "--parametric", "width",
                              "--cross-validate", "3", "--json"});
  ASSERT_EQ(folds.code, 0) << folds.err;
  EXPECT_GT(folds.json()["accuracy"].get<double>(), 0.9);
  EXPECT_EQ(run({"convert", "m", "-o", "foreign"}).code, 2);
}

TEST_F(CliSemiParametric, BadFunctionsAreRefusedInOneLine) {
  write("d.csv", houses(30));
  const std::vector<std::string> svr = {"--label", "price", "--task", "svr"};
  const auto refused = [&](std::vector<std::string> more, int code, const std::string& part) {
    more.insert(more.begin(), svr.begin(), svr.end());
    expect_refused("d.csv", more, code, part);
  };
  refused({"--parametric", "sin(agee)"}, 2, "column 5: there is no feature 'agee'");
  refused({"--parametric", "sin(age"}, 2, "column 4: this parenthesis is not closed");
  refused({"--parametric", ""}, 2, "an expression is empty");
  refused({"--parametric-column", "size"}, 2, "there is no feature 'size'");
  refused({"--parametric", "0*age"}, 3, "'0*age' is zero in every row");
  refused({"--parametric", "log(age-3)"}, 3, "'log(age-3)' is nan in row");
  refused({"--parametric", "5"}, 3, "'5' depends linearly on the bias");
  refused({"--parametric", "age", "--parametric", "2*age+1"}, 3,
          "'2*age+1' depends linearly on the bias and 'age'");
  write("d.csv", houses(3));
  refused({"--parametric", "age", "--parametric", "age^2", "--parametric", "age^3"}, 3,
          "3 functions and the bias cannot be told apart in 3 rows");
  write("two", two_classes(30, 0.1));
  expect_refused("two", {"--task", "one-class", "--parametric", "1 + x1^2"}, 2, "is infeasible");
  expect_refused("two", {"--kernel", "precomputed", "--parametric", "x1"}, 2,
                 "'x1' is of kernel values");
}

}  // namespace
}  // namespace maxmargin::cli_test
