// Bad data, bad models, files that cannot be read or written: one line, the right exit code, and
// nothing half-written.
#include "tests/cli_program.hpp"

namespace maxmargin::cli_test {
namespace {

class CliBadInput : public Program {};

struct Bad {
  std::string name, text;
  std::vector<std::string> options;
  int code;
  std::string says;  ///< part of the message
};

TEST_F(CliBadInput, BadDataIsRefusedWithItsPlace) {
  const std::vector<Bad> table = {
      {"nan", "1 1:2\n-1 1:nan\n", {}, 3, "nan:2:"},
      {"infinity", "1 1:2\n-1 1:inf\n", {}, 3, "infinity:2:"},
      {"overflow", "1 1:1e999\n-1 1:1\n", {}, 3, "overflow:1:"},
      {"colon", "1 1:2 3\n-1 1:1\n", {}, 3, "colon:1:"},
      {"negative", "1 -1:2\n-1 1:1\n", {}, 3, "negative:1:"},
      {"repeated", "1 1:2 1:3\n-1 1:1\n", {}, 3, "repeated:1:"},
      {"unsorted", "1 2:2 1:3\n-1 1:1\n", {}, 3, "unsorted:1:"},
      {"zero", "1 0:2\n-1 1:1\n", {"--base", "1"}, 3, "zero:1:"},
      {"garbage",
       std::string("\x7f\x45\x4c\x46\x01\x00\xff\xfe\x9c\n\x00\x01", 12),
       {},
       3,
       "garbage"},
      {"empty", "", {}, 3, "empty"},
      {"blank", "\n\n# nothing\n", {}, 3, "blank"},
      {"one-class-only", "1 1:2\n1 1:1\n", {}, 3, "class"},
      {"word", "big 1:2\nsmall 1:1\n", {"--task", "svr"}, 3, "word:1:"},
      {"short.csv", "class,a,b\n1,2,3\n-1,2\n", {}, 3, "short.csv:3"},
      {"no-column.csv", "class,a\n1,2\n-1,3\n", {"--label", "kind"}, 2, "kind"},
      {"weight.csv", "class,a,w\n1,2,1\n-1,3,-1\n", {"--weight-column", "w"}, 3, "weight.csv:3"},
      {"chi", "1 1:-2\n-1 1:1\n", {"--kernel", "chi-squared"}, 3, "chi-squared"},
      {"tanh",
       "1 1:1e200 2:-1e200\n-1 1:1e200 2:1e200\n1 1:2\n",
       {"--kernel", "sigmoid"},
       3,
       "overflow on this data"},
      {"gram", "1 1:1 2:0\n-1 1:0 2:1 3:1\n", {"--kernel", "precomputed"}, 3, "precomputed"},
      {"truncated.gz",
       std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33", 11),
       {},
       3,
       "truncated.gz"},
  };
  for (const Bad& bad : table) {
    write(bad.name, bad.text);
    std::vector<std::string> arguments{"train", bad.name, "-o", "m"};
    arguments.insert(arguments.end(), bad.options.begin(), bad.options.end());
    const Finished finished = run(arguments);
    const std::string shown = bad.name + ": " + finished.err;
    EXPECT_EQ(finished.code, bad.code) << shown;
    EXPECT_TRUE(finished.err.starts_with("maxmargin: ")) << shown;
    EXPECT_EQ(count_lines(finished.err), 1u) << shown;
    EXPECT_NE(finished.err.find(bad.says), std::string::npos) << shown;
    EXPECT_EQ(finished.out, "") << shown;
    std::filesystem::remove(path(bad.name));
    EXPECT_EQ(files(), std::vector<std::string>{}) << shown;
  }
}

TEST_F(CliBadInput, WeightsMustFitTheData) {
  write("d", two_classes(3, 0));
  for (const std::string weights :
       {"1\n-1\n1\n", "1\nx\n1\n", "1\n1\n", "1\n1\n1\n1\n", "nan\n1\n1\n"}) {
    write("w", weights);
    const Finished finished = run({"train", "d", "-o", "m", "--weights", "w"});
    EXPECT_EQ(finished.code, 3) << weights << finished.err;
    EXPECT_NE(finished.err.find("w:"), std::string::npos) << finished.err;
    EXPECT_FALSE(exists("m"));
  }
}

TEST_F(CliBadInput, FilesThatAreNotThere) {
  write("d", two_classes(20, 0));
  ASSERT_EQ(run({"train", "d", "-o", "m"}).code, 0);
  EXPECT_EQ(run({"train", "nowhere", "-o", "x"}).code, 6);
  EXPECT_EQ(run({"predict", "nowhere", "m"}).code, 6);
  EXPECT_EQ(run({"predict", "d", "nowhere"}).code, 6);
  EXPECT_EQ(run({"verify", "nowhere", "d"}).code, 6);
  EXPECT_EQ(run({"check", "nowhere"}).code, 6);
  EXPECT_EQ(run({"inspect", "nowhere"}).code, 6);
  EXPECT_EQ(run({"train", "d", "--weights", "nowhere", "-o", "x"}).code, 6);
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "m"}));
}

TEST_F(CliBadInput, AnUnwritablePathIsNoticedBeforeTheWork) {
  write("d", "this is not data, which nobody should get to see");
  for (const std::string target : {"no/such/folder/m", ".", "d/m", "/proc/m"}) {
    const Finished finished = run({"train", "d", "-o", target});
    EXPECT_EQ(finished.code, 6) << target << finished.err;
    EXPECT_EQ(count_lines(finished.err), 1u);
  }
  write("m", "nor is this a model");
  EXPECT_EQ(run({"predict", "d", "m", "-o", "no/such/p"}).code, 6);
}

TEST_F(CliBadInput, AFullDiskIsAnError) {
  write("d", two_classes(20, 0));
  ASSERT_EQ(run({"train", "d", "-o", "m"}).code, 0);
  EXPECT_EQ(run({"train", "d", "-o", "/dev/full"}).code, 6);
  EXPECT_EQ(run({"predict", "d", "m", "-o", "/dev/full"}).code, 6);
  EXPECT_EQ(run({"predict", "d", "m"}, {}, {}, "/dev/full").code, 6);
  EXPECT_EQ(run({"predict", "d", "m", "--json"}, {}, {}, "/dev/full").code, 6);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "m"}));
}

TEST_F(CliBadInput, AFailureLeavesTheOldFile) {
  write("d", two_classes(20, 0));
  ASSERT_EQ(run({"train", "d", "-o", "m"}).code, 0);
  std::string rows;
  for (int i = 0; i < 20000; ++i) rows += "1 1:0.5 2:0.25\n";
  write("t", rows + "1 1:oops\n");
  write("p", "the old predictions");
  const Finished finished = run({"predict", "t", "m", "-o", "p"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_NE(finished.err.find("t:20001:"), std::string::npos) << finished.err;
  EXPECT_EQ(text_of("p"), "the old predictions");
  EXPECT_EQ(files(), (std::vector<std::string>{"d", "m", "p", "t"}));
}

TEST_F(CliBadInput, BrokenModelsAreRefused) {
  write("d", two_classes(30, 0.1));
  ASSERT_EQ(run({"train", "d", "-o", "m"}).code, 0);
  const std::string whole = text_of("m");
  std::vector<std::string> broken = {"", "x", whole.substr(0, whole.size() / 2), whole + "x"};
  for (const std::size_t at : {std::size_t{3}, whole.size() / 3, whole.size() - 40}) {
    broken.push_back(whole);
    broken.back()[at] = static_cast<char>(broken.back()[at] ^ 0x15);
  }
  for (const std::string& bytes : broken) {
    write("b", bytes);
    for (const auto& arguments : std::vector<std::vector<std::string>>{
             {"inspect", "b"}, {"predict", "d", "b"}, {"verify", "b", "d"}}) {
      const Finished finished = run(arguments);
      EXPECT_EQ(finished.code, 3) << finished.err;
      EXPECT_TRUE(finished.err.starts_with("maxmargin: b")) << finished.err;
      EXPECT_EQ(count_lines(finished.err), 1u) << finished.err;
    }
  }
}

}  // namespace
}  // namespace maxmargin::cli_test
