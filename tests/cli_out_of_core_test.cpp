// Training with the rows on disk, from the command line.
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliOutOfCore : public Program {
 protected:
  json train(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"train", "d", "--kernel", "linear", "--gap", "1e-10",
                                         "--tolerance", "1e-9", "--json"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out.empty() ? json() : finished.json();
  }
};

TEST_F(CliOutOfCore, TheSameMachineAsInMemory) {
  write("d", two_classes(400, 0.4));
  const json whole = train({"-o", "whole", "--solver", "interior-point"});
  const json streamed = train({"-o", "m", "--out-of-core", "--scratch", "."});
  EXPECT_EQ(streamed["solver"], "interior-point");
  EXPECT_EQ(streamed["ended"], "converged");
  const double optimum = whole["primal"];
  EXPECT_NEAR(streamed["primal"].get<double>(), optimum, 1e-12 * optimum);
  EXPECT_LE(streamed["relative_gap"].get<double>(), 1e-10);
  EXPECT_GT(streamed["disk"]["passes"], 0);
  EXPECT_GT(streamed["disk"]["scratch_bytes"], 0);
  EXPECT_EQ(whole.count("disk"), 0u);
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "m", "whole"}));

  EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  EXPECT_EQ(run({"predict", "d", "m", "-o", "p"}).code, 0);
  EXPECT_EQ(run({"predict", "d", "whole", "-o", "q"}).code, 0);
  EXPECT_EQ(text_of("p"), text_of("q"));
}

TEST_F(CliOutOfCore, BalancedClassWeights) {
  write("d", two_classes(300, 0.4));
  const std::vector<std::string> balanced{"--class-weight", "balanced", "--class-weight", "1=2"};
  std::vector<std::string> whole{"-o", "whole"}, streamed{"-o", "m", "--out-of-core"};
  whole.insert(whole.end(), balanced.begin(), balanced.end());
  streamed.insert(streamed.end(), balanced.begin(), balanced.end());
  whole.insert(whole.end(), {"--solver", "interior-point"});
  const double optimum = train(whole)["primal"];
  EXPECT_NEAR(train(streamed)["primal"].get<double>(), optimum, 1e-12 * optimum);
}

TEST_F(CliOutOfCore, SaysWhyNot) {
  write("d", two_classes(60, 0.4));
  const auto refused = [&](std::vector<std::string> arguments, const std::string& part, int code) {
    arguments.insert(arguments.begin(), {"train", "d", "-o", "m", "--out-of-core"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, code);
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
    EXPECT_FALSE(exists("m"));
  };
  refused({}, "linear kernel", 2);
  refused({"--kernel", "linear", "--solver", "smo"}, "interior-point", 2);
  refused({"--kernel", "linear", "--scale"}, "scale", 2);
  refused({"--kernel", "linear", "--memory", "1M"}, "give --memory", 2);
  refused({"--kernel", "linear", "--scratch", "nowhere"}, "nowhere", 6);
}

// What does not fit goes to disk unless that would not fit either: then memory is tried.
TEST_F(CliOutOfCore, WithTooLittleForTheDiskItStaysInMemory) {
  // The file is larger than what may be taken, and that is less than passes over the disk need.
  write("d", two_classes(200, 0.4) + "# " + std::string(2'000'000, '-') + "\n");
  const json object = train({"-o", "m", "--memory", "1M"});
  EXPECT_EQ(object["ended"], "converged");
  EXPECT_EQ(object.count("disk"), 0u);
}

}  // namespace
}  // namespace maxmargin::cli_test
