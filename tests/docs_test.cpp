// The documentation says what the code does: tables hold what the lists declare, snippets are
// pieces of the examples that ctest runs, links lead somewhere.
#include <gtest/gtest.h>

#include <cctype>
#include <regex>
#include <set>
#include <sstream>

#include "maxmargin/online/rules/rules.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "maxmargin/structured/tasks/task.hpp"
#include "maxmargin/task/task.hpp"
#include "tests/source_tree.hpp"

namespace maxmargin::docs_test {
namespace {

using namespace testing_tree;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string in_table(std::string_view text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

TEST(Docs, EveryKernelIsInTheTableWithItsFormulaAndParameters) {
  const auto table = lines(source_dir() / "docs/kernels.md");
  for_each_component<Kernel>([&](const auto& kernel) {
    const std::string start = "| `" + std::string(kernel.name) + "` |";
    const auto row = std::ranges::find_if(
        table, [&](const std::string& line) { return line.starts_with(start); });
    ASSERT_NE(row, table.end()) << start;
    EXPECT_TRUE(contains(*row, "`" + in_table(kernel.formula) + "`")) << *row;
    for_each_field(kernel, [&](const auto& declared, const auto&) {
      EXPECT_TRUE(contains(*row, "`" + std::string(declared.name) + "`")) << *row;
    });
  });
}

TEST(Docs, EveryOnlineRuleIsInTheTableWithItsFormulaParametersAndSource) {
  const auto table = lines(source_dir() / "docs/online.md");
  for_each_component<Rule>([&](const auto& rule) {
    const std::string start = "| `" + std::string(rule.name) + "` |";
    const auto row = std::ranges::find_if(
        table, [&](const std::string& line) { return line.starts_with(start); });
    ASSERT_NE(row, table.end()) << start;
    EXPECT_TRUE(contains(*row, "`" + in_table(rule.formula) + "`")) << *row;
    EXPECT_TRUE(contains(*row, in_table(rule.source))) << *row;
    for_each_field(rule, [&](const auto& declared, const auto&) {
      EXPECT_TRUE(contains(*row, "`" + std::string(declared.name) + "`")) << *row;
    });
  });
}

TEST(Docs, EveryTaskHasAPageThatNamesItsParameters) {
  for_each_component<Task>([&](const auto& task) {
    std::string page(task.name);
    std::ranges::replace(page, '-', '_');
    const std::string text = text_of(source_dir() / "docs" / (page + ".md"));
    EXPECT_TRUE(contains(text, "--task " + std::string(task.name))) << page;
    const auto names_option = [&](std::string_view name) {
      EXPECT_TRUE(contains(text, "--" + std::string(name))) << page << ": " << name;
    };
    for_each_field(task, [&](const auto& declared, const auto& value) {
      names_option(declared.name);
      using Value = std::remove_cvref_t<decltype(value)>;
      if constexpr (is_list<Value>)
        for_each_component<Value>([&](const auto& choice) {
          EXPECT_TRUE(contains(text, "`" + std::string(choice.name) + "`")) << choice.name;
          for_each_field(choice, [&](const auto& of, const auto&) { names_option(of.name); });
        });
    });
  });
  const std::string classes = text_of(source_dir() / "docs/svc.md");
  for (const auto& each : Named<Multiclass>::values)
    EXPECT_TRUE(contains(classes, each.second)) << each.second;
}

TEST(Docs, EveryTaskOfAStructuralMachineIsDescribedWithItsOptions) {
  const std::string all = text_of(source_dir() / "docs/structured.md");
  for (const StructuredTask& task : structured_tasks()) {
    EXPECT_TRUE(contains(all, "| `" + std::string(task.name) + "` |")) << task.name;
    const std::string text =
        all + text_of(source_dir() / "docs" / (std::string(task.name) + ".md"));
    for (const TaskOption& option : task.options)
      EXPECT_TRUE(contains(text, "--" + std::string(option.name)))
          << task.name << ": " << option.name;
  }
}

TEST(Docs, EverySolverIsDescribed) {
  const std::string text = text_of(source_dir() / "docs/solver.md");
  for_each_component<Solver>([&](const auto& solver) {
    EXPECT_TRUE(contains(text, "`" + std::string(solver.name) + "`")) << solver.name;
  });
}

TEST(Docs, LinksLeadSomewhere) {
  const std::regex link("\\]\\(([^)#:]+)\\)");
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found)
      EXPECT_TRUE(fs::exists(page.parent_path() / (*found)[1].str()))
          << shown(page) << ": " << (*found)[1];
  }
}

/// The name by which links reach a heading: "## The meanings of C" is the-meanings-of-c.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading.substr(heading.find_first_not_of("# ")))
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(c));
    else if (c == ' ')
      anchor += '-';
  return anchor;
}

TEST(Docs, LinksIntoAPageLeadToOneOfItsHeadings) {
  const std::regex link("\\]\\(([^)#:]*)#([^)]+)\\)");
  std::size_t links = 0;
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::sregex_iterator found(text.begin(), text.end(), link), end; found != end; ++found) {
      const std::string file = (*found)[1];
      std::set<std::string> anchors;
      for (const std::string& line : lines(file.empty() ? page : page.parent_path() / file))
        if (line.starts_with("#")) anchors.insert(anchor_of(line));
      EXPECT_TRUE(anchors.contains((*found)[2])) << shown(page) << ": " << (*found)[0];
      ++links;
    }
  }
  EXPECT_GT(links, 0u);
}

TEST(Docs, EveryPageIsInTheTableOfPages) {
  const std::string table = text_of(source_dir() / "docs/README.md");
  for (const fs::path& page : files("docs", {".md"})) {
    if (page.filename() == "README.md") continue;
    EXPECT_TRUE(contains(table, "](" + page.filename().string() + ")")) << shown(page);
  }
}

// Files that a page names in backquotes exist.
TEST(Docs, FilesThatAreNamedExist) {
  const std::regex name(
      "`((maxmargin|cli|capi|include|tests|examples|docs|bench|scripts|fuzz)/[a-z_/.0-9-]+)`");
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::sregex_iterator found(text.begin(), text.end(), name), end; found != end; ++found)
      EXPECT_TRUE(fs::exists(source_dir() / (*found)[1].str()))
          << shown(page) << ": " << (*found)[1];
  }
}

/// What a page has in backquotes, outside of indented text.
std::vector<std::string> quoted(const fs::path& page) {
  const std::regex quote("`([^`]+)`");
  std::vector<std::string> found;
  for (const std::string& line : lines(page)) {
    if (line.starts_with("    ")) continue;
    for (std::sregex_iterator each(line.begin(), line.end(), quote), end; each != end; ++each)
      found.push_back((*each)[1].str());
  }
  return found;
}

// Pages about the code say where a file is from the folder that they speak of.
TEST(Docs, FilesAndFoldersThatPagesAboutTheCodeNameExist) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir() / "maxmargin"))
    paths.push_back("/" + shown(entry.path()) + (entry.is_directory() ? "/" : ""));
  const std::regex name("[a-z_/0-9]+(\\.[ch]pp|/)");
  std::size_t names = 0;
  for (const char* page : {"maxmargin/README.md", "CONTRIBUTING.md"})
    for (const std::string& each : quoted(source_dir() / page)) {
      if (!std::regex_match(each, name)) continue;
      ++names;
      EXPECT_TRUE(fs::exists(source_dir() / each) ||
                  std::ranges::any_of(
                      paths, [&](const std::string& path) { return path.ends_with("/" + each); }))
          << page << ": " << each;
    }
  EXPECT_GT(names, 60u);
}

TEST(Docs, TypesAndFunctionsThatTheMapNamesExist) {
  std::set<std::string, std::less<>> known;
  const auto is_letter = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (const char* folder : {"maxmargin", "include"})
    for (const fs::path& path : files(folder, {".hpp", ".h", ".cpp"})) {
      known.insert(path.stem().string());
      for (const std::string& line : lines(path)) {
        const std::string code = line.substr(0, line.find("//"));
        for (auto at = code.begin(); at != code.end();) {
          at = std::find_if(at, code.end(), is_letter);
          const auto end = std::find_if_not(at, code.end(), is_letter);
          known.emplace(at, end);
          at = end;
        }
      }
    }
  const std::regex name("([A-Za-z_]+)(\\(\\))?");
  std::size_t names = 0;
  for (const std::string& each : quoted(source_dir() / "maxmargin/README.md")) {
    std::smatch match;
    if (!std::regex_match(each, match, name)) continue;
    ++names;
    EXPECT_TRUE(known.contains(match[1].str())) << each;
  }
  EXPECT_GT(names, 60u);
}

TEST(Docs, SnippetsArePiecesOfTheExamples) {
  std::string examples;
  for (const fs::path& path : files("examples", {".cpp"})) examples += text_of(path);
  const std::string fence = "```";
  for (const fs::path& page : pages()) {
    const std::string text = text_of(page);
    for (std::size_t at = text.find(fence + "cpp\n"); at != std::string::npos;
         at = text.find(fence + "cpp\n", at + 1)) {
      const std::size_t begin = at + fence.size() + 4;
      const std::string snippet = text.substr(begin, text.find(fence, begin) - begin);
      EXPECT_TRUE(contains(examples, snippet)) << shown(page) << ":\n" << snippet;
    }
  }
}

}  // namespace
}  // namespace maxmargin::docs_test
