// The list of solvers, the race between them, and what a refused one says.
#include <algorithm>

#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class CliSolvers : public Program {};

TEST_F(CliSolvers, AreListedWithWhatTheyAccept) {
  const Finished listed = run({"solvers"});
  EXPECT_EQ(listed.code, 0);
  EXPECT_EQ(listed.err, "");
  const Finished shown = run({"solvers", "--json"});
  const json solvers = shown.json()["solvers"];
  ASSERT_GE(solvers.size(), 4u);
  const std::string help = run({"train", "--help"}).out;
  for (const json& solver : solvers) {
    const std::string name = solver["name"];
    EXPECT_TRUE(has(listed.out, name + ": ")) << name;
    EXPECT_TRUE(has(help, name)) << name;
    EXPECT_FALSE(solver["accepts"].empty()) << name;
    EXPECT_TRUE(has(run({"solvers", name}).out, "kernels")) << name;
  }
}

TEST_F(CliSolvers, AcceptWhatTheListSays) {
  write("d", two_classes(12, 0.1));
  const json solvers = run({"solvers", "--json"}).json()["solvers"];
  for (const json& solver : solvers)
    for (const std::string bias : {"unpenalised", "none"}) {
      const json hinge{{"task", "svc"}, {"loss", "hinge"}, {"bias", bias}};
      const bool listed = std::ranges::count(solver["accepts"], hinge) > 0;
      const std::string name = solver["name"];
      const Finished trained = run({"train", "d", "-o", "m", "--bias", bias, "--solver", name});
      EXPECT_EQ(trained.code != 2, listed) << name << " " << bias << ": " << trained.err;
    }
}

TEST_F(CliSolvers, AnUnknownNameIsCorrected) {
  const Finished finished = run({"solvers", "interior"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_TRUE(has(finished.err, "unknown solver 'interior'")) << finished.err;
}

TEST_F(CliSolvers, WhoRefusesSaysWhyAndWhoDoesNot) {
  write("d", two_classes(20, 0.1));
  const Finished finished = run({"train", "d", "-o", "m", "--solver", "lagrangian"});
  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(count_lines(finished.err), 1u);
  EXPECT_TRUE(has(finished.err, "a bias must be penalised, or absent")) << finished.err;
  EXPECT_TRUE(has(finished.err, "these can: smo, interior-point, primal-dual")) << finished.err;
  EXPECT_FALSE(exists("m"));
}

TEST_F(CliSolvers, TheModelRemembersWhoTrainedItAndWhy) {
  write("d", two_classes(40, 0.1));
  const json trained = run({"train", "d", "-o", "m", "--json"}).json();
  const json options = run({"inspect", "m", "--json"}).json()["options"];
  EXPECT_EQ(options["solver"], trained["solver"]);
  EXPECT_EQ(options["reason"], trained["reason"]);
  EXPECT_TRUE(has(run({"inspect", "m"}).out, "solver     smo: one equality row"));
  EXPECT_EQ(run({"train", "d", "-o", "m", "--solver", "primal-dual"}).code, 0);
  EXPECT_EQ(run({"inspect", "m", "--json"}).json()["options"]["solver"], "primal-dual");
}

class CliRace : public Program {
 protected:
  json race(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), {"race", "d", "--json"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, code) << finished.err;
    return finished.out.empty() ? json() : finished.json();
  }
  static const json& lane(const json& object, const std::string& name) {
    for (const json& each : object["lanes"])
      if (each["name"] == name) return each;
    static const json none;
    ADD_FAILURE() << name << " did not run";
    return none;
  }
};

TEST_F(CliRace, AllThatFitReachTheSameOptimum) {
  write("d", two_classes(80, 0.2));
  const json object = race({"--gamma", "2", "--gap", "1e-6", "--tolerance", "1e-6"});
  const std::size_t listed = run({"solvers", "--json"}).json()["solvers"].size();
  EXPECT_EQ(object["lanes"].size(), listed);
  EXPECT_TRUE(lane(object, "lagrangian").contains("refused"));
  const double optimum = lane(object, "smo")["dual"];
  std::size_t ran = 0;
  for (const json& each : object["lanes"]) {
    if (each.contains("refused")) continue;
    ++ran;
    EXPECT_EQ(each["ended"], "converged");
    EXPECT_NEAR(each["primal"].get<double>(), optimum, 2e-6 * optimum) << each["name"];
    EXPECT_GE(each["above_best"].get<double>(), 0);
    EXPECT_GT(each["model_bytes"].get<std::size_t>(), 0u);
  }
  EXPECT_GE(ran, 3u);
  EXPECT_EQ(object["winner"], object["lanes"][0]["name"]);
  EXPECT_FALSE(lane(object, object["auto"]).contains("refused"));
  EXPECT_EQ(files(), std::vector<std::string>{"d"});  // no model unless asked for
}

TEST_F(CliRace, ApproximationsRunAlongAndTheFirstIsKept) {
  write("d", two_classes(120, 0.2));
  const json object = race({"--gamma", "2", "--ranks", "5,40", "--only", "smo", "-o", "m"});
  EXPECT_EQ(object["lanes"].size(), 3u);
  const json& small = lane(object, "pivoted 5");
  EXPECT_EQ(small["rank"], 5);
  EXPECT_LE(small["support_vectors"].get<int>(), 5);
  // What f can be is less, so that the best of it is no better.
  EXPECT_GE(small["primal"].get<double>(), lane(object, "smo")["dual"].get<double>());
  EXPECT_GE(small["primal"].get<double>(), lane(object, "pivoted 40")["dual"].get<double>());
  EXPECT_EQ(run({"predict", "d", "m", "--json"}).code, 0);
}

TEST_F(CliRace, RowsOnDiskRunAlong) {
  write("d", two_classes(200, 0.2));
  const json object = race({"--kernel", "linear", "--gap", "1e-6", "--tolerance", "1e-6", "--only",
                            "smo", "--out-of-core", "--memory", "200M"});
  const json& disk = lane(object, "out-of-core");
  EXPECT_EQ(disk["ended"], "converged");
  EXPECT_EQ(disk["solver"], "interior-point");
  const double optimum = lane(object, "smo")["dual"];
  EXPECT_NEAR(disk["primal"].get<double>(), optimum, 2e-6 * optimum);
  EXPECT_EQ(run({"race", "d", "--out-of-core"}).code, 2);  // the kernel is not linear
  EXPECT_EQ(run({"race", "-", "--kernel", "linear", "--out-of-core"}).code, 2);
}

TEST_F(CliRace, MachinesWithFunctionsRace) {
  write("d", two_classes(60, 0.2));
  const json object = race({"--gamma", "1", "--parametric", "x1", "--parametric", "sin(x2)",
                            "--gap", "1e-6", "--tolerance", "1e-6", "--ranks", "20"});
  const double optimum = lane(object, "smo")["dual"];
  for (const std::string name : {"smo", "interior-point", "primal-dual"}) {
    EXPECT_EQ(lane(object, name)["ended"], "converged") << name;
    EXPECT_NEAR(lane(object, name)["primal"].get<double>(), optimum, 2e-6 * optimum) << name;
  }
  EXPECT_EQ(lane(object, "pivoted 20")["ended"], "converged");
}

TEST_F(CliRace, ATableForPeople) {
  write("d", two_classes(60, 0.1));
  const Finished finished = run({"race", "d", "--kernel", "linear"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.err, "");  // no terminal: no progress
  for (const std::string part : {"auto ", "smo", "relative gap", "above best", "model",
                                 "lagrangian did not run: it takes no equality rows"})
    EXPECT_TRUE(has(finished.out, part)) << part << "\n" << finished.out;
}

TEST_F(CliRace, ATimeLimitIsForEach) {
  write("d", two_classes(2000, 0.5));
  const json object = race({"--only", "smo,primal-dual", "--ranks", "0", "--cost", "1e6", "--gamma",
                            "10", "--gap", "1e-12", "--tolerance", "1e-12", "--time-limit", "50ms"},
                           4);
  EXPECT_EQ(object["time_limit"], 0.05);
  EXPECT_TRUE(object["winner"].is_null());
  for (const json& each : object["lanes"]) EXPECT_EQ(each["ended"], "time limit");
}

TEST_F(CliRace, AnInterruptShowsWhatThereIs) {
  write("d", two_classes(4000, 0.5));
  const Finished finished = run({"race", "d", "--json", "--ranks", "0", "--cost", "1e6", "--gamma",
                                 "10", "--gap", "1e-12", "--tolerance", "1e-12"},
                                {}, [](pid_t child) {
                                  wait_until_interruptible(child);
                                  kill(child, SIGINT);
                                });
  ASSERT_EQ(finished.code, 5) << finished.err;
  EXPECT_TRUE(finished.json()["interrupted"].get<bool>());
}

TEST_F(CliRace, MistakesAreNamed) {
  write("d", two_classes(20, 0.1));
  EXPECT_TRUE(has(run({"race", "d", "--only", "smoo"}).err, "did you mean 'smo'"));
  EXPECT_TRUE(has(run({"race", "d", "--solver", "smo"}).err, "unknown option --solver"));
  EXPECT_TRUE(has(run({"race", "d", "--ranks", "x"}).err, "--ranks"));
}

}  // namespace
}  // namespace maxmargin::cli_test
