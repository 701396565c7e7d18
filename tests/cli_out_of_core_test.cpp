// Training with the rows on disk, from the command line.
#include <sys/resource.h>
#include <sys/stat.h>

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
  /// The bounds of both have an optimum in common, and are as narrow as was asked for.
  static void expect_same_optimum(const json& one, const json& other) {
    const auto number = [](const json& run, const char* field) { return run[field].get<double>(); };
    EXPECT_LE(number(one, "dual"), number(other, "primal"));
    EXPECT_LE(number(other, "dual"), number(one, "primal"));
    EXPECT_LE(number(one, "relative_gap"), 1e-10);
    EXPECT_LE(number(other, "relative_gap"), 1e-10);
  }
};

TEST_F(CliOutOfCore, TheSameMachineAsInMemory) {
  write("d", two_classes(400, 0.4));
  const json whole = train({"-o", "whole", "--solver", "interior-point"});
  const json streamed = train({"-o", "m", "--out-of-core", "--scratch", "."});
  EXPECT_EQ(streamed["solver"], "interior-point");
  EXPECT_EQ(streamed["ended"], "converged");
  expect_same_optimum(streamed, whole);
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
  expect_same_optimum(train(streamed), train(whole));
}

TEST_F(CliOutOfCore, ScaledRowsAndBasisFunctions) {
  write("d", two_classes(300, 0.4));
  const auto same = [&](const std::vector<std::string>& how) {
    std::vector<std::string> whole{"-o", "whole", "--solver", "interior-point"},
        streamed{"-o", "m", "--out-of-core"};
    whole.insert(whole.end(), how.begin(), how.end());
    streamed.insert(streamed.end(), how.begin(), how.end());
    expect_same_optimum(train(streamed), train(whole));
    EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  };
  same({"--scale=deviation"});
  same({"--kernel", "rbf", "--gamma", "0.5", "--approximate", "pivoted", "--rank", "12"});
  same({"--parametric", "x1^2", "--parametric-column", "2", "--scale=range"});
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
  refused({"--kernel", "linear", "--parametric", "x1", "--solver", "lagrangian"}, "functions", 2);
  refused({"--kernel", "linear", "--memory", "1M"}, "give --memory", 2);
  refused({"--kernel", "linear", "--scratch", "nowhere"}, "nowhere", 6);
  write("d", "1 3:2 4000000000:1\n-1 3:1\n");
  refused({"--kernel", "linear"}, "without gaps", 2);
}

// What is larger than the memory given goes to disk by itself, and says so.
TEST_F(CliOutOfCore, WhatDoesNotFitGoesToDisk) {
  write("d", two_classes(300, 0.4));
  {
    // Written line by line: a program starts with the peak of the one that started it.
    const std::string line = "#" + std::string(1022, '-') + "\n";
    std::ofstream file(path("d"), std::ios::app);
    for (int i = 0; i < 48 * 1024; ++i) file << line;
  }
  const json small = train({"-o", "m", "--memory", "46M", "--scratch", "."});
  EXPECT_EQ(small["ended"], "converged");
  ASSERT_EQ(small.count("disk"), 1u);
  EXPECT_GT(small["disk"]["passes"], 0);
  EXPECT_EQ(small["rows"], 300);
  EXPECT_NE(small["reason"].get<std::string>().find("would take about"), std::string::npos);
#ifndef MAXMARGIN_SANITIZED  // whose own memory counts as the program's
  EXPECT_LE(small["peak_memory_bytes"].get<double>(), 46.0 * (1 << 20));
  // With room for all of it, or where the disk cannot be used, it stays in memory.
  const json large = train({"-o", "n", "--memory", "128M"});
  EXPECT_EQ(large.count("disk"), 0u);
  EXPECT_NEAR(small["primal"].get<double>(), large["primal"].get<double>(),
              1e-9 * large["primal"].get<double>());
  const json other = train({"-o", "o", "--memory", "46M", "--solver", "smo"});
  EXPECT_EQ(other.count("disk"), 0u);
#endif
}

// What does not fit goes to disk unless that would not fit either: then it says what would.
TEST_F(CliOutOfCore, TooLittleForTheDiskIsTooLittle) {
  // The file is larger than what may be taken, and that is less than passes over the disk need.
  write("d", two_classes(200, 0.4) + "# " + std::string(2'000'000, '-') + "\n");
  const Finished finished = run({"train", "d", "-o", "m", "--kernel", "linear", "--memory", "1M"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_NE(finished.err.find("give --memory"), std::string::npos) << finished.err;
}

// However it ends: nothing is left of the scratch file, and a model that was written is honest.
TEST_F(CliOutOfCore, NothingStaysBehind) {
  write("d", two_classes(400, 0.4));
  const Finished stopped = run({"train", "d", "-o", "m", "--kernel", "linear", "--out-of-core",
                                "--scratch", ".", "--time-limit", "1e-9", "--json"});
  EXPECT_EQ(stopped.code, 5) << stopped.err;
  EXPECT_EQ(stopped.json()["ended"], "time limit");
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "m"}));
  EXPECT_EQ(run({"verify", "m", "d"}).code, 0);

  // A named pipe that stays open: the program waits for more rows when it is ended.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const Finished ended =
        run({"train", "pipe", "-o", "n", "--kernel", "linear", "--out-of-core", "--scratch", "."},
            {}, [&](pid_t child) {
              const int writer = open(path("pipe").c_str(), O_WRONLY);
              EXPECT_EQ(::write(writer, "1 1:2\n", 6), 6);
              kill(child, signal);
              siginfo_t end{};
              waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT);
              close(writer);
            });
    EXPECT_EQ(ended.code, -signal);
    EXPECT_EQ(files(), (std::vector<std::string>{"d", "m", "pipe"}));
  }
}

// A limit on the size of files stands in for a disk that is full.
TEST_F(CliOutOfCore, ADiskThatFillsUp) {
  write("d", two_classes(4000, 0.4));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{16384, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Finished finished =
      run({"train", "d", "-o", "m", "--kernel", "linear", "--out-of-core", "--scratch", "."});
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(finished.code, 6);
  EXPECT_NE(finished.err.find("the scratch file cannot grow"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("--scratch"), std::string::npos) << finished.err;
  EXPECT_EQ(files(), std::vector<std::string>{"d"});
}

}  // namespace
}  // namespace maxmargin::cli_test
