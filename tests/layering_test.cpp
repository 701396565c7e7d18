// The order of the folders is the order of the data flow: a folder includes only what stands before
// it. The table is the whole rule.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/source_tree.hpp"

namespace maxmargin::layering_test {
namespace {

using namespace testing_tree;

using Order = std::map<std::string, std::set<std::string>>;

const Order may_include = {
    {"base", {}},
    {"linalg", {"base"}},
    {"data", {"base", "linalg"}},
    {"kernel", {"base", "linalg", "data"}},
    {"loss", {"base", "linalg"}},
    {"problem", {"base", "linalg", "data", "kernel", "loss"}},
    {"certify", {"base", "linalg", "data", "kernel", "loss", "problem"}},
    {"solver", {"base", "linalg", "data", "kernel", "loss", "problem", "certify"}},
    {"task", {"base", "loss"}},
    {"model", {"base", "linalg", "data", "kernel", "loss", "problem", "certify", "task"}},
    {"structured",
     {"base", "linalg", "data", "kernel", "loss", "problem", "certify", "solver", "task", "model"}},
    {"online",
     {"base", "linalg", "data", "kernel", "loss", "problem", "certify", "solver", "task", "model"}},
    {"train",
     {"base", "linalg", "data", "kernel", "loss", "problem", "certify", "solver", "task", "model",
      "online"}},
    {"libsvm",
     {"base", "linalg", "data", "kernel", "loss", "problem", "certify", "solver", "task", "model",
      "online", "train"}},
    {"door",
     {"base", "linalg", "data", "kernel", "loss", "problem", "certify", "solver", "task", "model",
      "structured", "online", "train", "libsvm"}},
};

const Order rooms_of_the_program = {
    {"terminal", {}},
    {"options", {"terminal"}},
    {"report", {"terminal"}},
    {"libsvm", {"terminal", "options"}},
    {"svmstruct", {"terminal", "libsvm"}},
    {"verbs", {"terminal", "options", "report", "svmstruct"}},
    {"stream", {"terminal", "options", "report", "verbs"}},
};

void expect_every_folder(const std::string& root, const Order& order) {
  for (const auto& entry : fs::directory_iterator(source_dir() / root)) {
    if (entry.is_directory()) {
      EXPECT_TRUE(order.contains(entry.path().filename()))
          << entry.path().filename() << " has no place in the order of the folders";
    }
  }
}

TEST(Layering, EveryFolderIsInTheTable) {
  expect_every_folder("maxmargin", may_include);
  expect_every_folder("cli", rooms_of_the_program);
}

// Tests may look further, e.g. train a model to save it; the library may not.
int expect_order(const std::string& root, const Order& order) {
  const std::regex include("^\\s*#\\s*include\\s+\"" + root + "/([^/\"]+)/.*");
  int seen = 0;
  for (const auto& [folder, allowed] : order) {
    for (const fs::path& path : files(root + "/" + folder, {".cpp", ".hpp"})) {
      if (path.stem().string().ends_with("_test")) continue;
      for (const std::string& line : lines(path)) {
        std::smatch match;
        if (!std::regex_match(line, match, include)) continue;
        ++seen;
        EXPECT_TRUE(match[1] == folder || allowed.contains(match[1]))
            << shown(path) << ": " << line;
      }
    }
  }
  return seen;
}

TEST(Layering, FoldersIncludeOnlyWhatStandsBeforeThem) {
  EXPECT_GT(expect_order("maxmargin", may_include), 50);
  EXPECT_GT(expect_order("cli", rooms_of_the_program), 50);
}

// The doors hold no algorithm, and the library does not know them.
TEST(Layering, TheLibraryDoesNotIncludeItsDoors) {
  const std::regex door("^\\s*#\\s*include\\s+[\"<](cli|capi|bench|fuzz|tests|examples|CLI)/.*");
  for (const fs::path& path : files("maxmargin", {".cpp", ".hpp"})) {
    if (path.stem().string().ends_with("_test")) continue;
    for (const std::string& line : lines(path))
      EXPECT_FALSE(std::regex_match(line, door)) << shown(path) << ": " << line;
  }
}

// What a stranger has is what is installed.
TEST(Layering, ExamplesUseOnlyTheDoor) {
  const std::regex include("^\\s*#\\s*include\\s+[\"<](maxmargin|cli|capi|tests)/(.*)[\">].*");
  int seen = 0;
  for (const char* folder : {"examples", "tests/consumer"})
    for (const fs::path& path : files(folder, {".cpp", ".hpp", ".c"}))
      for (const std::string& line : lines(path)) {
        std::smatch match;
        if (!std::regex_match(line, match, include)) continue;
        ++seen;
        EXPECT_TRUE(match[1] == "maxmargin" &&
                    fs::exists(source_dir() / "include/maxmargin" / match[2].str()))
            << shown(path) << ": " << line;
      }
  EXPECT_GT(seen, 5);
}

}  // namespace
}  // namespace maxmargin::layering_test
