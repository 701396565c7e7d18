// Limits and signals: the best model so far is written, and the exit code says so.
#include <sys/stat.h>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

class CliStopping : public Program {
 protected:
  void SetUp() override {
    // Labels that no smooth function explains, at a high cost: many minutes of work.
    write("d", two_classes(4000, 0.5));
  }
  const std::vector<std::string> endless_{"train", "d",       "-o",    "m",      "--cost",
                                          "1e6",   "--gap",   "1e-12", "--json", "--tolerance",
                                          "1e-12", "--gamma", "10"};

  /// The model is whole and agrees with what training reported.
  void expect_honest_model(const Finished& finished) {
    const auto object = finished.json();
    EXPECT_NE(object["ended"], "converged");
    EXPECT_GT(object["relative_gap"].get<double>(), 1e-12);
    const Finished inspected = run({"inspect", "m", "--json"});
    ASSERT_EQ(inspected.code, 0) << inspected.err;
    EXPECT_EQ(inspected.json()["digest"], object["digest"]);
    EXPECT_EQ(inspected.json()["machines"][0]["gap"], object["gap"]);
    write("t", two_classes(10, 0));
    EXPECT_EQ(count_lines(run({"predict", "t", "m"}).out), 10u);
  }
};

TEST_F(CliStopping, ATimeLimitEndsWithAModel) {
  std::vector<std::string> arguments = endless_;
  arguments.insert(arguments.end(), {"--time-limit", "100ms"});
  const Finished finished = run(arguments);
  ASSERT_EQ(finished.code, 5) << finished.err;
  EXPECT_EQ(finished.json()["ended"], "time limit");
  expect_honest_model(finished);
}

TEST_F(CliStopping, AnIterationLimitEndsWithAModel) {
  std::vector<std::string> arguments = endless_;
  arguments.insert(arguments.end(), {"--max-iterations", "50"});
  const Finished finished = run(arguments);
  ASSERT_EQ(finished.code, 5) << finished.err;
  expect_honest_model(finished);
}

TEST_F(CliStopping, AnInterruptEndsWithAModel) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Finished finished = run(endless_, {}, [&](pid_t child) {
      wait_until_interruptible(child);
      kill(child, signal);
    });
    ASSERT_EQ(finished.code, 5) << finished.err;
    EXPECT_EQ(finished.json()["ended"], "cancelled");
    expect_honest_model(finished);
    std::filesystem::remove(path("m"));
  }
}

TEST_F(CliStopping, AnInterruptWhileReadingEndsAtOnce) {
  // A named pipe that stays open: the program waits for the rest of its data.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Finished finished = run({"train", "pipe", "-o", "m"}, {}, [&](pid_t child) {
    const int writer = open(path("pipe").c_str(), O_WRONLY);
    EXPECT_EQ(::write(writer, "1 1:2\n", 6), 6);
    kill(child, SIGINT);
    siginfo_t ended{};
    waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
    close(writer);
  });
  EXPECT_EQ(finished.code, -SIGINT);
  EXPECT_FALSE(exists("m"));
}

TEST_F(CliStopping, WhoWaitsForAModelIsToldHowToEndIt) {
  write("small", two_classes(60, 0.1));
  // Nobody reads: writing takes for ever.
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const Finished finished = run({"train", "small", "-o", "pipe", "--quiet"}, {}, [&](pid_t child) {
    wait_until_interruptible(child);
    kill(child, SIGTERM);
    constexpr int long_enough = 4000;
    for (int k = 0; k < long_enough && text_of(".stderr").empty(); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGTERM);
  });
  EXPECT_EQ(finished.code, -SIGTERM);
  EXPECT_NE(finished.err.find("a second SIGINT or SIGTERM ends at once"), std::string::npos)
      << finished.err;
}

}  // namespace
}  // namespace maxmargin::cli_test
