// Habits that a reader of the code, or a program that uses the library, relies on.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "tests/source_tree.hpp"

namespace maxmargin::hygiene_test {
namespace {

using namespace testing_tree;

const std::vector<std::string> folders = {"maxmargin", "cli",  "capi",    "tests", "examples",
                                          "bench",     "fuzz", "scripts", "docs"};
const std::vector<std::string> texts = {".cpp", ".hpp", ".md", ".txt", ".cmake", ".sh"};

// Errors are exceptions and progress goes to an observer; what is printed is up to the caller.
TEST(Hygiene, TheLibraryNeverPrintsExitsOrAborts) {
  const std::regex forbidden(
      "(^|[^_[:alnum:]])(std::cout|std::cerr|std::clog|printf|fprintf|puts|fputs|perror|exit|_exit|"
      "quick_exit|abort|terminate|fmt::print)\\s*(\\(|<<)");
  for (const fs::path& path : files("maxmargin", {".cpp", ".hpp"})) {
    if (path.stem().string().ends_with("_test")) continue;
    int number = 0;
    for (const std::string& line : lines(path)) {
      ++number;
      const std::string code = line.substr(0, line.find("//"));
      EXPECT_FALSE(std::regex_search(code, forbidden))
          << shown(path) << ":" << number << ": " << line;
    }
  }
}

TEST(Hygiene, NoFileIsTooLongToReadAtOnce) {
  for (const std::string& folder : folders)
    for (const fs::path& path : files(folder, {".cpp", ".hpp"}))
      EXPECT_LE(lines(path).size(), 600u) << shown(path);
}

TEST(Hygiene, HeadersAreGuarded) {
  for (const std::string& folder : folders)
    for (const fs::path& path : files(folder, {".hpp"})) {
      // What is included once for every instruction set has a guard that lets it in again.
      if (shown(path).ends_with("-inl.hpp")) continue;
      EXPECT_EQ(lines(path).at(0), "#pragma once") << shown(path);
    }
}

// Two types of one name, each in a file that does not see the other, share their functions in the
// program: the linker takes either's.
TEST(Hygiene, ANameBelongsToOneType) {
  // A specialisation, Name<...>, belongs to its template.
  const std::regex definition("^(?:struct|class|enum class) (\\w+)(?: [^;]*)?\\{");
  std::map<std::string, std::string> seen;
  for (const fs::path& path : files("maxmargin", {".hpp"}))
    for (const std::string& line : lines(path))
      if (std::smatch match; std::regex_search(line, match, definition)) {
        const auto [first, is_new] = seen.emplace(match[1].str(), shown(path));
        EXPECT_TRUE(is_new || first->second == shown(path))
            << match[1].str() << " in " << first->second << " and " << shown(path);
      }
}

TEST(Hygiene, NothingIsLeftForLater) {
  // Put together here so that this file does not find itself.
  const std::regex marker(std::string("\\b(TO") + "DO|FIX" + "ME|X" + "XX|DISA" + "BLED_)");
  for (const std::string& folder : folders)
    for (const fs::path& path : files(folder, texts)) {
      int number = 0;
      for (const std::string& line : lines(path)) {
        ++number;
        EXPECT_FALSE(std::regex_search(line, marker)) << shown(path) << ":" << number;
      }
    }
}

TEST(Hygiene, LinesEndCleanly) {
  for (const std::string& folder : folders)
    for (const fs::path& path : files(folder, texts)) {
      int number = 0;
      for (const std::string& line : lines(path)) {
        ++number;
        EXPECT_TRUE(line.empty() || (line.back() != ' ' && line.back() != '\r'))
            << shown(path) << ":" << number;
      }
    }
}

/// The arguments between two brackets, as they are written.
std::vector<std::string> arguments_in(const std::string& code, std::size_t begin) {
  std::vector<std::string> found(1);
  int depth = 1, angles = 0;
  for (std::size_t i = begin; i < code.size(); ++i) {
    const char c = code[i];
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth == 0) break;
    angles += c == '<';
    angles -= c == '>' && angles > 0 && code[i - 1] != '-';
    if (c == ',' && depth == 1 && angles == 0)
      found.emplace_back();
    else
      found.back() += c;
  }
  return found;
}

// What belongs together is a type of its own: nobody can read a call of seven arguments.
TEST(Hygiene, FunctionsHaveSixParametersAtMost) {
  // Loops over arrays, one for each instruction set, and BLAS.
  const std::vector<std::string> exempt = {"maxmargin/kernel/engine/", "maxmargin/linalg/blas.",
                                           "maxmargin/model/verify/tile_product."};
  const std::regex parameter(
      "\\s*(const\\s+)?[A-Za-z_][\\w:]*(<[^()]*>)?(\\s*[&*]+\\s*|\\s+)(const\\s+)?\\w+\\s*(=.*)?");
  std::size_t exempted = 0;
  for (const char* folder : {"maxmargin", "cli", "capi"})
    for (const fs::path& path : files(folder, {".cpp", ".hpp"})) {
      if (path.stem().string().ends_with("_test")) continue;
      std::string code;
      for (const std::string& line : lines(path)) code += line.substr(0, line.find("//")) + " ";
      for (std::size_t at = code.find('('); at != std::string::npos; at = code.find('(', at + 1)) {
        if (at == 0 || std::isalnum(static_cast<unsigned char>(code[at - 1])) == 0) continue;
        const std::vector<std::string> arguments = arguments_in(code, at + 1);
        const auto is_parameter = [&](const std::string& argument) {
          return std::regex_match(argument, parameter);
        };
        if (arguments.size() < 7 || !std::ranges::all_of(arguments, is_parameter)) continue;
        const bool may = std::ranges::any_of(
            exempt, [&](const std::string& each) { return shown(path).starts_with(each); });
        exempted += may;
        EXPECT_TRUE(may) << shown(path) << ": "
                         << code.substr(at - std::min<std::size_t>(at, 40), 120);
      }
    }
  EXPECT_GT(exempted, 0u);  // it finds what it looks for
}

// The same words wherever they occur: a name that says nothing hides what a file is about.
TEST(Hygiene, FileNamesSayWhatTheFileIsAbout) {
  const std::regex empty_name("utils?|misc|common|helpers?|manager");
  for (const std::string& folder : folders)
    for (const fs::path& path : files(folder, {".cpp", ".hpp"}))
      EXPECT_FALSE(std::regex_match(path.stem().string(), empty_name)) << shown(path);
}

}  // namespace
}  // namespace maxmargin::hygiene_test
