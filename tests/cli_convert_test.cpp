// `maxmargin convert`, and models of LIBSVM wherever a model is taken.
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

class CliConvert : public Program {};

TEST_F(CliConvert, ThereAndBackIsTheSameModel) {
  write("train", two_classes(200, 0.1));
  ASSERT_EQ(run({"train", "train", "-o", "own"}).code, 0);
  ASSERT_EQ(run({"convert", "own", "-o", "text"}).code, 0);
  EXPECT_TRUE(text_of("text").starts_with("svm_type c_svc\nkernel_type rbf\ngamma "));
  ASSERT_EQ(run({"convert", "text", "-o", "again"}).code, 0);
  ASSERT_EQ(run({"convert", "again", "-o", "text2"}).code, 0);
  EXPECT_EQ(text_of("text"), text_of("text2"));
  ASSERT_EQ(run({"predict", "train", "own", "-o", "p1"}).code, 0);
  ASSERT_EQ(run({"predict", "train", "text", "-o", "p2"}).code, 0);
  EXPECT_EQ(text_of("p1"), text_of("p2"));
  EXPECT_EQ(run({"inspect", "text", "--json"}).json()["class_names"],
            nlohmann::json::array({"-1", "1"}));
}

TEST_F(CliConvert, SvmPredictTakesWhatItWrites) {
  write("train", flowers(90));
  const Finished named = run({"train", "train", "--format", "csv", "-o", "own"});
  ASSERT_EQ(named.code, 0) << named.err;
  const Finished refused = run({"convert", "own", "-o", "text"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("'iris' is not called by a whole number"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(exists("text"));

  write("numbers", curve(60));
  ASSERT_EQ(run({"train", "numbers", "--task", "svr", "-o", "own"}).code, 0);
  ASSERT_EQ(run({"convert", "own", "-o", "text", "--to", "libsvm"}).code, 0);
  ASSERT_EQ(run({"predict", "numbers", "own", "-o", "p1"}).code, 0);
  const std::string command =
      "svm-predict " + path("numbers") + " " + path("text") + " " + path("p2") + " > /dev/null";
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::istringstream ours(text_of("p1")), theirs(text_of("p2"));
  int compared = 0;
  for (double one = 0, other = 0; ours >> one && theirs >> other; ++compared)
    EXPECT_NEAR(one, other, 1e-5 * (1 + std::abs(other)));
  EXPECT_EQ(compared, 60);
}

TEST_F(CliConvert, AGivenKernelKeepsItsSerialNumbers) {
  // The last row lies in the middle, and supports no one-class machine.
  const auto place = [](int i) { return i == 12 ? 6.5 : i; };
  std::string rows;
  for (int i = 1; i <= 12; ++i) {
    rows += (i % 3 == 0 ? "1 0:" : "-1 0:") + std::to_string(i);
    for (int j = 1; j <= 12; ++j)
      rows += " " + std::to_string(j) + ":" +
              std::to_string(std::exp(-0.01 * std::pow(place(i) - place(j), 2)));
    rows += "\n";
  }
  write("k", rows);
  for (const char* task : {"svc", "one-class"}) {
    const Finished trained =
        run({"train", "k", "-o", "own", "--kernel", "precomputed", "--task", task});
    ASSERT_EQ(trained.code, 0) << trained.err;
    ASSERT_EQ(run({"convert", "own", "-o", "text"}).code, 0);
    if (std::string(task) == "one-class") {
      ASSERT_EQ(text_of("text").find("0:12"), std::string::npos);
    }
    ASSERT_EQ(run({"convert", "text", "-o", "again"}).code, 0);
    ASSERT_EQ(run({"predict", "k", "own", "-o", "p"}).code, 0);
    for (const char* model : {"text", "again"}) {
      const Finished done = run({"predict", "k", model, "-o", "q"});
      ASSERT_EQ(done.code, 0) << done.err;
      EXPECT_EQ(text_of("q"), text_of("p")) << task << " " << model;
    }
  }
}

TEST_F(CliConvert, DamagedModelsAreDataErrors) {
  write("text", "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 1000000000\n");
  const Finished finished = run({"convert", "text", "-o", "own"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(count_lines(finished.err), 1u);
  EXPECT_EQ(files(), std::vector<std::string>{"text"});
  EXPECT_EQ(run({"convert", "text", "-o", "own", "--to", "onnx"}).code, 2);
  EXPECT_EQ(run({"train", "text"}).code, 3);
  EXPECT_EQ(run({"predict", "text", "own"}).code, 2);
}

}  // namespace
}  // namespace maxmargin::cli_test
