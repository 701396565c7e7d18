// Solvers, their options and the kinds of bias from the command line.
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliSolver : public Program {
 protected:
  json train(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"train", "d", "-o", "m", "--gamma", "2"});
    arguments.push_back("--json");
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.err;
    return finished.out.empty() ? json() : finished.json();
  }
  void expect_refused(std::vector<std::string> arguments, const std::string& part) {
    arguments.insert(arguments.begin(), {"train", "d", "-o", "m"});
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 2);
    EXPECT_NE(finished.err.find(part), std::string::npos) << finished.err;
  }
};

TEST_F(CliSolver, OptionsOfASolverAreTaken) {
  write("d", two_classes(150, 0.1));
  const double optimum =
      train({"--solver", "smo", "--no-shrinking", "--working-set", "10"})["dual"];
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--working-set", "1"},
           {"--penalty", "10"},
           {"--safeguard", "bounded", "--hessian"},
           {"--safeguard", "none", "--hessian", "--wait"},
           {"--primal-tolerance", "0.0001", "--dual-tolerance", "0.001"}}) {
    std::vector<std::string> all = {"--solver", "primal-dual"};
    all.insert(all.end(), options.begin(), options.end());
    const json object = train(all);
    EXPECT_EQ(object["solver"], "primal-dual");
    EXPECT_EQ(object["reason"], "as asked for");
    EXPECT_NEAR(object["dual"].get<double>(), optimum, 1e-3 * optimum);
  }
}

TEST_F(CliSolver, OptionsThatHaveNoEffectAreRefused) {
  write("d", two_classes(20, 0.1));
  expect_refused({"--penalty", "2"}, "--penalty has no effect with --solver auto");
  expect_refused({"--solver", "smo", "--penalty", "2"}, "--penalty has no effect with solver smo");
  expect_refused({"--solver", "primal-dual", "--penalty", "0"}, "greater than 0");
  expect_refused({"--solver", "primal-dual", "--safeguard", "augment"}, "did you mean 'augmented'");
  expect_refused({"--solver", "sor", "--bias", "none", "--relaxation", "2"}, "less than 2");
}

TEST_F(CliSolver, ClassicalSolversReachTheSameOptimum) {
  write("d", two_classes(150, 0.1));
  const double optimum = train({"--solver", "smo"})["dual"];
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"platt", "--zeta", "1.5", "--order", "decreasing"},
           {"platt", "--zeta", "adaptive", "--thresholds", "one", "--cache", "element"},
           {"decomposition", "--selection", "kkt-gap", "--working-set", "10", "--inner", "smo"},
           {"decomposition", "--selection", "multiplier", "--no-balanced", "--sticky", "2"},
           {"chunking", "--chunk", "20", "--inner", "interior-point"},
           {"newton"},
           {"irls"},
           {"gradient-descent", "--space", "function"}}) {
    std::vector<std::string> all = {"--solver"};
    all.insert(all.end(), options.begin(), options.end());
    const json object = train(all);
    EXPECT_EQ(object["solver"], options[0]);
    EXPECT_EQ(object["ended"], "converged");
    EXPECT_NEAR(object["dual"].get<double>(), optimum, 2e-3 * optimum);
    if (options[0] != "platt") continue;
    EXPECT_GT(object["cache"]["hit_rate"].get<double>(), 0);
    EXPECT_LE(object["cache"]["hit_rate"].get<double>(), 1);
  }
}

TEST_F(CliSolver, HullsHaveTheWidestMarginAndTheBayesPointTellsItsGap) {
  write("d", two_classes(60, 0.0));
  const std::vector<std::string> form = {"--loss", "squared-hinge", "--bias", "none"};
  const auto with = [&](std::vector<std::string> options) {
    options.insert(options.end(), form.begin(), form.end());
    return train(options);
  };
  const double optimum = with({"--solver", "interior-point"})["dual"];
  for (const std::string step : {"exchange", "toward"}) {
    const json object = with({"--solver", "perceptron", "--hull-step", step});
    EXPECT_EQ(object["ended"], "converged");
    EXPECT_NEAR(object["dual"].get<double>(), optimum, 2e-3 * optimum);
  }
  // A limit ends it: there is no gap to reach.
  const Finished ended =
      run({"train", "d", "-o", "m", "--gamma", "2", "--loss", "squared-hinge", "--bias", "none",
           "--solver", "bayes-point", "--max-iterations", "500", "--json"});
  EXPECT_EQ(ended.code, 5) << ended.err;
  const json mean = ended.json();
  EXPECT_EQ(mean["ended"], "iteration limit");
  EXPECT_LT(mean["dual"].get<double>(), optimum);
  EXPECT_GT(mean["primal"].get<double>(), optimum);
}

TEST_F(CliSolver, ClassicalSolversRefuseInOneLineWithTheWayOut) {
  write("d", two_classes(20, 0.1));
  expect_refused({"--solver", "platt", "--zeta", "2"}, "greater than 0 and less than 2");
  expect_refused({"--solver", "platt", "--zeta", "0"}, "greater than 0 and less than 2");
  expect_refused({"--solver", "platt", "--zeta", "fast"}, "or adaptive");
  expect_refused({"--solver", "platt", "--order", "decreasin"}, "did you mean 'decreasing'");
  expect_refused({"--solver", "platt", "--bias", "none"}, "leave --bias out");
  expect_refused({"--solver", "decomposition", "--working-set", "1"}, "take sets of at least 2");
  expect_refused({"--solver", "decomposition", "--inner", "sor"}, "choose another --inner");
  expect_refused({"--solver", "chunking", "--inner", "nobody"}, "there is no solver 'nobody'");
  expect_refused({"--solver", "newton", "--hard-margin"}, "no loss to differentiate");
  expect_refused({"--solver", "gradient-descent", "--gap", "1e-9"}, "ask for no less than 1e-4");
  expect_refused({"--solver", "gradient-descent", "--space", "coefficient"},
                 "has no derivative there");
  expect_refused({"--solver", "gradient-descent", "--regulariser", "l1"}, "give --max-iterations");
  expect_refused({"--solver", "stochastic"}, "penalise it (--bias)");
  expect_refused({"--solver", "irls", "--gap", "1e-9"}, "ask for no less than 1e-3");
  expect_refused({"--solver", "perceptron"}, "give --hard-margin, or --loss squared-hinge");
  expect_refused({"--solver", "bayes-point", "--hard-margin"}, "penalise it (--bias)");
  expect_refused({"--solver", "bayes-point", "--hard-margin", "--bias", "none"},
                 "give --max-iterations");
}

TEST_F(CliSolver, ThreeKindsOfBias) {
  write("d", two_classes(150, 0.1));
  const double free = train({"--bias", "unpenalised"})["dual"];
  const json penalised = train({"--bias", "penalised"});
  EXPECT_EQ(penalised["solver"], "smo");
  EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  const json none = train({"--bias", "none", "--solver", "sor", "--relaxation", "1.2"});
  EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  EXPECT_EQ(run({"inspect", "m", "--json"}).json()["machines"][0]["bias"], 0);
  // Whatever a bias costs makes the optimum no smaller; leaving it out costs most.
  EXPECT_LE(free, penalised["primal"].get<double>());
  EXPECT_LE(penalised["dual"].get<double>(), none["primal"].get<double>());
  EXPECT_NEAR(train({"--bias", "none", "--solver", "adatron"})["dual"].get<double>(),
              none["dual"].get<double>(), 1e-3 * free);
}

TEST_F(CliSolver, ARankIsRaisedUntilTheTrueKernelsOptimumIsNear) {
  write("d", two_classes(150, 0.1));
  const json made = train(
      {"--gamma", "4", "--approximate", "pivoted", "--residual", "0.2", "--true-gap", "0.01"});
  EXPECT_EQ(made["ended"], "converged");
  const json& machine = made["improvement"][0];
  EXPECT_EQ(machine["limit"], "gap");
  ASSERT_GE(machine["rounds"].size(), 2u);
  EXPECT_LT(machine["rounds"][0]["rank"], machine["rounds"].back()["rank"]);
  const double primal = made["primal"], bound = made["true_dual"];
  EXPECT_LE(primal - bound, 0.01 * primal);
  EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  const json exact = train({"--gamma", "4"});
  EXPECT_GE(primal, exact["dual"].get<double>());
  EXPECT_LE(bound, exact["primal"].get<double>());
  EXPECT_GT(exact["support_vectors"], made["support_vectors"]);

  const Finished few = run({"train", "d", "-o", "m", "--gamma", "4", "--approximate", "sgma",
                            "--rank", "5", "--true-gap", "1e-6", "--json"});
  EXPECT_EQ(few.code, 4) << few.err;
  EXPECT_EQ(few.json()["improvement"][0]["limit"], "rank");
  const std::string told = run({"train", "d", "-o", "m", "--gamma", "4", "--approximate", "sgma",
                                "--rank", "5", "--true-gap", "1e-6"})
                               .out;
  EXPECT_NE(told.find("asked for: 1e-06; --rank allows no more"), std::string::npos) << told;
  EXPECT_NE(run({"train", "d", "-o", "m", "--approximate", "random", "--true-gap", "0.5"})
                .out.find("rounds"),
            std::string::npos);
  expect_refused({"--true-gap", "0.1"}, "--true-gap has no effect without --approximate");
  expect_refused({"--approximate", "sgma", "--true-gap", "0"}, "greater than 0");
}

// All coefficients 0 violate nothing but the sum that nu asks for: no answer to stay with.
TEST_F(CliSolver, ThePathGoesOnFromAPointThatMissesASum) {
  write("d", "3 1:1.3\n-2 1:2\n-0.8 1:1.5\n");
  for (const char* cost : {"1e-6", "1e-3"}) {
    const Finished done =
        run({"train", "d", "-o", "m", "--task", "nu-svr", "--kernel", "laplacian", "--gamma", "12",
             "--nu", "0.01", "--solver", "interior-point", "--cost", cost});
    EXPECT_EQ(done.code, 0) << done.out << done.err;
    EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
  }
}

TEST_F(CliSolver, ABiasThatCannotBeChosenIsRefused) {
  write("d", two_classes(20, 0.1));
  expect_refused({"--bias", "penalized"}, "did you mean 'penalised'");
  expect_refused({"--task", "one-class", "--bias", "none"},
                 "--bias has no effect with task one-class");
  expect_refused({"--solver", "sor"}, "it takes no equality row");
}

}  // namespace
}  // namespace maxmargin::cli_test
