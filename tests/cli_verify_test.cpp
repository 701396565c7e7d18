// `maxmargin verify`: what it says, the report that others can repeat, and what it cannot look at.
#include "maxmargin/model/file/file.hpp"
#include "tests/cli_program.hpp"
#include "tests/paths.hpp"

namespace maxmargin::cli_test {
namespace {

using nlohmann::json;

class CliVerify : public Program {
 protected:
  void succeed(const std::vector<std::string>& arguments) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.code, 0) << finished.out << finished.err;
  }
  /// So many classes in a cloud each, or a curve for none.
  static std::string rows(int count, int classes, std::uint64_t seed) {
    Rng rng(seed);
    std::ostringstream text;
    for (int i = 0; i < count; ++i) {
      const int label = classes == 0 ? 0 : i % classes;
      const double x = rng.normal() + label, z = rng.normal() - 0.5 * label;
      if (classes == 0)
        text << std::sin(x) + 0.1 * rng.normal();
      else
        text << label;
      text << " 1:" << x << " 2:" << z << '\n';
    }
    return text.str();
  }
  /// A matrix in LIBSVM's text.
  static std::string matrix(const std::vector<std::vector<double>>& K) {
    std::ostringstream text;
    text.precision(17);
    for (std::size_t i = 0; i < K.size(); ++i) {
      text << (i % 2 == 0 ? 1 : -1);
      for (std::size_t j = 0; j < K.size(); ++j) text << ' ' << j + 1 << ':' << K[i][j];
      text << '\n';
    }
    return text.str();
  }
  static std::vector<std::vector<double>> random_symmetric(std::size_t n, double diagonal) {
    Rng rng(1);
    std::vector<std::vector<double>> K(n, std::vector<double>(n, diagonal));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) K[i][j] = K[j][i] = rng.uniform(-1, 1);
    return K;
  }
};

TEST_F(CliVerify, TheReportIsRepeatedByOtherMeans) {
  const std::string script = "python3 " + (source_dir() / "examples/check_certificate.py").string();
  const auto repeat = [&](const std::string& report) {
    return std::system(
        ("cd " + path("") + " && " + script + " " + report + " m d > shown").c_str());
  };
  const std::vector<std::vector<std::string>> runs = {
      {"--kernel", "linear"},
      {"--kernel", "rbf", "--gamma", "0.5", "--cost", "10", "--multiclass", "ovr"},
      {"--kernel", "polynomial", "--gamma", "0.5", "--degree", "2", "--coef0", "1",
       "--class-weight", "1=2"},
      {"--kernel", "laplacian", "--gamma", "0.3", "--task", "svr", "--epsilon", "0.05"}};
  for (const auto& options : runs) {
    const bool numbers = options.back() == "0.05";
    write("d", rows(60, numbers ? 0 : 3, 1));
    std::vector<std::string> train{"train", "d", "-o", "m"};
    train.insert(train.end(), options.begin(), options.end());
    succeed(train);
    succeed({"verify", "m", "d", "--report", "r"});
    EXPECT_EQ(repeat("r"), 0) << text_of("shown");
    json report = json::parse(text_of("r"));
    EXPECT_EQ(report["verdict"], "true");
    EXPECT_EQ(report["machines"].size(), numbers ? 1u : 3u);
    report["machines"][0]["primal"] = report["machines"][0]["primal"].get<double>() * 0.99;
    write("wrong", report.dump());
    EXPECT_NE(repeat("wrong"), 0);
  }
}

TEST_F(CliVerify, AFalseFieldIsNamed) {
  write("d", rows(60, 2, 2));
  succeed({"train", "d", "-o", "m"});
  Model model = load(path("m"));
  model.machines[0].certificate.best_dual = model.machines[0].certificate.primal;
  save(model, path("m"));
  const Finished text = run({"verify", "m", "d"});
  EXPECT_EQ(text.code, 4);
  EXPECT_NE(text.out.find("best_dual"), std::string::npos) << text.out;
  const json object = run({"verify", "m", "d", "--json"}).json();
  EXPECT_EQ(object["verdict"], "false");
  EXPECT_EQ(object["machines"][0]["field"], "best_dual");
}

TEST_F(CliVerify, WhatHasNoDualVariablesIsPrimalOnly) {
  write("d", rows(80, 2, 3));
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--kernel", "linear", "--out-of-core"},
        std::vector<std::string>{"--approximate", "pivoted", "--rank", "20"}}) {
    std::vector<std::string> train{"train", "d", "-o", "m"};
    train.insert(train.end(), how.begin(), how.end());
    succeed(train);
    const Finished plain = run({"verify", "m", "d"});
    EXPECT_EQ(plain.code, 0) << plain.out << plain.err;
    EXPECT_NE(plain.out.find("primal-only"), std::string::npos);
    EXPECT_EQ(run({"verify", "m", "d", "--strict"}).code, 4);
    Model model = load(path("m"));
    const Model honest = load(path("m"));
    for (double& coefficient : model.machines[0].coefficient) coefficient = -coefficient;
    model.machines[0].certificate.gap = 1e9;
    save(model, path("m"));
    EXPECT_EQ(run({"verify", "m", "d"}).code, 4);
    model = load(path("m"));
    model.machines[0].certificate = honest.machines[0].certificate;
    save(model, path("m"));
    EXPECT_EQ(run({"verify", "m", "d"}).code, 4);
  }
}

TEST_F(CliVerify, ProbabilitiesAreRefoldedOnRequest) {
  for (const std::string task : {"svc", "svr", "one-class"}) {
    write("d", rows(60, task == "svr" ? 0 : 2, 4));
    succeed({"train", "d", "-o", "m", "--probability", "--task", task, "--seed", "5"});
    EXPECT_EQ(run({"verify", "m", "d"}).code, 0);
    EXPECT_EQ(run({"verify", "m", "d", "--strict"}).code, 4);
    succeed({"verify", "m", "d", "--strict", "--calibration"});
    const Model honest = load(path("m"));
    Model model = load(path("m"));
    for (PlattSigmoid& sigmoid : model.calibration.sigmoid) sigmoid.offset += 0.01;
    for (double& mark : model.calibration.marks) mark += 0.01;
    save(model, path("m"));
    const Finished found = run({"verify", "m", "d", "--calibration", "--json"});
    EXPECT_EQ(found.code, 4) << task;
    EXPECT_EQ(found.json()["field"], "calibration");
    model = load(path("m"));
    model.calibration = honest.calibration;
    model.seed = 6;
    save(model, path("m"));
    EXPECT_EQ(run({"verify", "m", "d", "--calibration"}).code, 4) << task;
  }
}

// A large entry hides no other: the smallest eigenvalue of this matrix is far below 0.
TEST_F(CliVerify, MercerIsJudgedWithoutScale) {
  auto K = random_symmetric(20, 0.5);
  K[0][0] = 1e8;
  write("k", matrix(K));
  const Finished trained = run({"train", "k", "-o", "m", "--kernel", "precomputed", "--json"});
  EXPECT_FALSE(trained.json()["mercer"].get<bool>());
  Model model = load(path("m"));
  model.machines[0].certificate.mercer = true;
  save(model, path("m"));
  const Finished found = run({"verify", "m", "k"});
  EXPECT_EQ(found.code, 4);
  EXPECT_NE(found.out.find("mercer"), std::string::npos) << found.out;
}

TEST_F(CliVerify, AsymmetryIsJudgedEntryByEntry) {
  auto K = random_symmetric(20, 20);
  K[0][0] = 1e8;
  write("k", matrix(K));
  EXPECT_EQ(run({"train", "k", "-o", "m", "--kernel", "precomputed"}).code, 0);
  K[3][7] += 50;
  write("k", matrix(K));
  const Finished refused = run({"train", "k", "-o", "m", "--kernel", "precomputed"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("K(8, 4)"), std::string::npos) << refused.err;
}

// Nor does a matrix of more rows than are sampled.
TEST_F(CliVerify, AsymmetryIsFoundWhereverItIs) {
  std::string text;
  for (int i = 0; i < 1500; ++i)
    text += std::string(i % 2 == 0 ? "1" : "-1") + (i == 1203 ? " 778:50" : "") + " " +
            std::to_string(i + 1) + ":1\n";
  write("k", text);
  const Finished refused = run({"train", "k", "-o", "m", "--kernel", "precomputed"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("778"), std::string::npos) << refused.err;
}

// Models that an earlier verify refused.
TEST_F(CliVerify, HonestModelsOfRealDataAreNotRefused) {
  const std::filesystem::path heart = data_dir() / "binary/heart_scale.zst";
  if (!std::filesystem::exists(heart)) GTEST_SKIP() << heart << " is not there";
  const std::vector<std::vector<std::string>> runs = {
      {"--task", "nu-svc", "--nu", "0.01"},
      {"--task", "nu-svc", "--nu", "0.01", "--kernel", "linear"},
      {"--task", "nu-svc", "--nu", "0.3", "--gamma", "2"},
      {"--task", "one-class", "--nu", "1e-6"},
      {"--cost", "1000"},
      {"--cost", "1e6"},
      {"--cost", "1e8", "--bias", "none"},
      {"--cost", "1000", "--kernel", "polynomial", "--gamma", "0.1"},
      {"--task", "svr", "--loss", "squared", "--bias", "none", "--cost", "1000"}};
  for (const auto& options : runs) {
    std::vector<std::string> train{"train", heart.string(), "-o", "m"};
    train.insert(train.end(), options.begin(), options.end());
    run(train);
    const Finished found = run({"verify", "m", heart.string()});
    EXPECT_EQ(found.code, 0) << testing::PrintToString(options) << found.out << found.err;
  }
}

}  // namespace
}  // namespace maxmargin::cli_test
