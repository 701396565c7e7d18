// What the program says to a wrong command line, and its help.
#include <regex>
#include <set>

#include "maxmargin/structured/tasks/task.hpp"
#include "tests/cli_program.hpp"
#include "tests/source_tree.hpp"

namespace maxmargin::cli_test {
namespace {

class CliUsage : public Program {};

struct Wrong {
  std::vector<std::string> arguments;
  std::string says;
};

TEST_F(CliUsage, AMistakeIsOneLineThatSaysHowToMendIt) {
  write("d", two_classes(20, 0));
  const std::vector<Wrong> table = {
      {{}, "a command is missing"},
      {{"trian", "d"}, "did you mean 'train'?"},
      {{"train"}, "DATA is required"},
      {{"train", "d", "--tolerence", "1"}, "did you mean --tolerance?"},
      {{"train", "d", "--no-such-thing"}, "unknown option --no-such-thing"},
      {{"train", "d", "-c", "10"}, "did you mean --cost?"},
      {{"train", "d", "e"}, "unexpected argument 'e'"},
      {{"train", "d", "--cost"}, "--cost needs a value"},
      {{"train", "d", "--cost="}, "--cost needs a value"},
      {{"train", "d", "--task", "sequence", "--cost="}, "--cost needs a value"},
      {{"train", "d", "--cost", "abc"}, "'abc' is not a finite number"},
      {{"train", "d", "--cost", "nan"}, "--cost"},
      {{"train", "d", "--cost", "inf"}, "--cost"},
      {{"train", "d", "--cost", "0"}, "greater than 0"},
      {{"train", "d", "--gamma", "-1"}, "greater than 0"},
      {{"train", "d", "--kernel", "polynomial", "--degree", "2.5"}, "not a whole number"},
      {{"train", "d", "--kernel", "polynomial", "--degree", "0"}, "from 1 to 100"},
      {{"train", "d", "--kernel", "rbff"}, "did you mean 'rbf'?"},
      {{"train", "d", "--kernel", "custom"}, "unknown kernel"},
      {{"train", "d", "--kernel", "distance-rbf", "--distance", "manhatan"}, "'manhattan'"},
      {{"train", "d", "--degree", "2"}, "use kernel polynomial"},
      {{"train", "d", "--kernel", "linear", "--gamma", "1"}, "no effect with kernel linear"},
      {{"train", "d", "--nu", "0.5"}, "use task nu-svc or nu-svr or one-class"},
      {{"train", "d", "--task", "one-class", "--nu", "1.5"}, "at most 1"},
      {{"train", "d", "--task", "svr", "--epsilon", "-0.1"}, "0 or more"},
      {{"train", "d", "--task", "svr", "--multiclass", "ovo"}, "use task svc"},
      {{"train", "d", "--task", "svr", "--class-weight", "1=2"}, "use task svc"},
      {{"train", "d", "--task", "svm"}, "unknown task"},
      {{"train", "d", "--multiclass", "all"}, "choose one of ovo, ovr"},
      {{"train", "d", "--hard-margin", "--cost", "2"}, "--cost has no effect"},
      {{"train", "d", "--class-weight", "1"}, "LABEL=FACTOR"},
      {{"train", "d", "--class-weight", "1=-2"}, "greater than 0"},
      {{"train", "d", "--class-weight", "7=2"}, "no class '7'"},
      {{"train", "d", "--solver", "smoo"}, "did you mean 'smo'?"},
      {{"train", "d", "--tolerance", "0"}, "greater than 0"},
      {{"train", "d", "--memory", "8Q"}, "not a size"},
      {{"train", "d", "--memory", "-1G"}, "--memory"},
      {{"train", "d", "--memory", "0"}, "at least 1M"},
      {{"train", "d", "--time-limit", "5x"}, "not a time"},
      {{"train", "d", "--time-limit", "-5s"}, "not a time"},
      {{"train", "d", "--threads", "-1"}, "from 0 to 1024"},
      {{"train", "d", "--seed", "x"}, "--seed"},
      {{"train", "d", "--scale=unti"}, "did you mean 'unit'?"},
      {{"train", "d", "--scale", "--kernel", "precomputed"}, "leave it out"},
      {{"train", "d", "--format", "cvs"}, "did you mean 'csv'?"},
      {{"train", "d", "--base", "2"}, "--base"},
      {{"train", "d", "-o", "--json"}, "no name for an output file"},
      {{"train", "-"}, "add -o MODEL"},
      {{"predict", "d"}, "MODEL is required"},
      {{"verify"}, "MODEL is required"},
      {{"inspect"}, "MODEL is required"},
      {{"check"}, "FILE is required"},
      {{"check", "d", "--gamma", "1"}, "without --kernel"},
  };
  for (const Wrong& wrong : table) {
    const Finished finished = run(wrong.arguments);
    const std::string shown = testing::PrintToString(wrong.arguments) + ": " + finished.err;
    EXPECT_EQ(finished.code, 2) << shown;
    EXPECT_TRUE(finished.err.starts_with("maxmargin: ")) << shown;
    EXPECT_EQ(count_lines(finished.err), 1u) << shown;
    EXPECT_NE(finished.err.find(wrong.says), std::string::npos) << shown;
    EXPECT_EQ(finished.out, "") << shown;
  }
  EXPECT_EQ(files(), std::vector<std::string>{"d"});
}

TEST_F(CliUsage, HelpIsThereForEveryVerb) {
  const Finished all = run({"--help"});
  EXPECT_EQ(all.code, 0);
  EXPECT_EQ(all.err, "");
  EXPECT_NE(all.out.find("Exit codes:"), std::string::npos);
  for (const std::string verb :
       {"train", "predict", "verify", "check", "inspect", "solvers", "race"}) {
    EXPECT_NE(all.out.find(verb), std::string::npos);
    const Finished help = run({verb, "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("Usage: maxmargin " + verb), std::string::npos) << help.out;
    EXPECT_NE(help.out.find("Examples:"), std::string::npos);
    EXPECT_NE(help.out.find("--json"), std::string::npos);
  }
  EXPECT_EQ(run({"--version"}).out.substr(0, 10), "maxmargin ");
}

TEST_F(CliUsage, OptionsComeFromTheDeclaredFields) {
  const std::string help = run({"train", "--help"}).out;
  for (const std::string option :
       {"--task",    "--kernel", "--gamma",      "--degree",  "--coef0",         "--cost",
        "--epsilon", "--nu",     "--tolerance",  "--gap",     "--multiclass",    "--solver",
        "--threads", "--memory", "--time-limit", "--seed",    "--distance",      "--hard-margin",
        "--over",    "--under",  "--scale",      "--weights", "--weight-column", "--class-weight",
        "--label",   "--labels", "--base",       "--header"})
    EXPECT_NE(help.find("  " + option), std::string::npos) << option;
  for (const std::string kernel : {"linear", "polynomial", "rbf", "sigmoid", "laplacian",
                                   "chi-squared", "distance-rbf", "precomputed"})
    EXPECT_NE(help.find(kernel), std::string::npos) << kernel;
}

TEST_F(CliUsage, WhatAChoiceMeansStaysInItsColumn) {
  std::istringstream help(run({"train", "--help"}).out);
  std::string line;
  while (std::getline(help, line) && !line.starts_with("  --solver")) {
  }
  std::getline(help, line);
  const std::size_t name = line.find_first_not_of(' ');
  const std::size_t meaning = line.find_first_not_of(' ', line.find("  ", name));
  ASSERT_LT(meaning, line.size());
  int solvers = 0;
  for (; line.find("[auto]") == std::string::npos; std::getline(help, line)) {
    ASSERT_FALSE(help.eof());
    const std::size_t begins = line.find_first_not_of(' ');
    EXPECT_TRUE(begins == name || begins == meaning) << line;
    EXPECT_EQ(line.substr(meaning - 2, 2), "  ") << line;
    EXPECT_NE(line[meaning], ' ') << line;
    solvers += begins == name;
  }
  EXPECT_GT(solvers, 10);
}

TEST_F(CliUsage, FullStandardOutputIsNoticed) {
  const Finished finished = run({"--help"}, {}, {}, "/dev/full");
  EXPECT_EQ(finished.code, 6);
  EXPECT_NE(finished.err.find("standard output"), std::string::npos);
}

std::set<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex wanted(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), wanted), end; at != end; ++at)
    found.insert((*at)[1].str());
  return found;
}
constexpr const char* option_pattern = "(?:^|[^-A-Za-z0-9])(--[a-z][a-z0-9-]*)";

class CliDocs : public Program {
 protected:
  /// All that the program and its commands say of their options.
  std::string all_help() const {
    std::string text = run({"--help"}).out;
    for (const std::string& verb : verbs()) text += run({verb, "--help"}).out;
    for (const StructuredTask& task : structured_tasks())
      text += run({"train", "--task", std::string(task.name), "--help"}).out;
    for (const char* command :
         {"svm_hmm_learn", "svm_rank_learn", "svm_multiclass_learn", "svm_perf_learn"})
      text += run({command}).out;
    return text;
  }
  std::set<std::string> verbs() const {
    const std::string help = run({"--help"}).out;
    return matches(help.substr(help.find("Commands:")), "\n  ([a-z]+) ");
  }
};

// An option that a page names is one of the program, of a script here, or of cmake and ctest.
TEST_F(CliDocs, OptionsThatPagesNameExist) {
  std::string known = all_help() + " --install --prefix --output-on-failure --test-dir ";
  for (const char* folder : {"scripts", "bench", "bench/papers", "tests/clients"})
    for (const testing_tree::fs::path& script : testing_tree::files(folder, {""}))
      known += maxmargin::text_of(script);
  const std::set<std::string> options = matches(known, option_pattern);
  ASSERT_GT(options.size(), 100u);
  for (const testing_tree::fs::path& page : testing_tree::pages())
    for (const std::string& option : matches(maxmargin::text_of(page), option_pattern))
      EXPECT_TRUE(options.contains(option)) << testing_tree::shown(page) << ": " << option;
}

// In backquotes or as a line of code; a model file begins with "maxmargin model <version>".
TEST_F(CliDocs, CommandsThatPagesNameExist) {
  const std::set<std::string> known = verbs();
  ASSERT_GT(known.size(), 8u);
  for (const testing_tree::fs::path& page : testing_tree::pages())
    for (const std::string& verb :
         matches(maxmargin::text_of(page), "(?:`|\n    |\\$ )maxmargin ([a-z]+)(?![a-z]| <)"))
      EXPECT_TRUE(known.contains(verb)) << testing_tree::shown(page) << ": " << verb;
}

}  // namespace
}  // namespace maxmargin::cli_test
