#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace maxmargin::cli {

/// Help texts in two columns, wrapped to 80.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* verb) const override;
};

/// Values an option may have and what they mean, in two columns: text for the option's description.
class Choices {
 public:
  void add(std::string_view name, std::string_view meaning) { rows_.emplace_back(name, meaning); }
  std::string text() const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

/// "Examples:" and the lines below it, for a footer.
std::string examples(const std::vector<std::string>& lines);

/// The one line for a command line that could not be parsed: what, what was probably meant, and
/// where the help is.
std::string explain(const CLI::App& program, const CLI::ParseError& error);

/// The command line of the program, of which commands make their parts.
class CommandLine : public CLI::App {
 public:
  CommandLine();
  /// Parses it. The exit code where that was all: help or the version was asked for, and printed.
  /// Throws a usage Error with the line of explain().
  std::optional<int> answered(int argc, const char* const* argv);
};

}  // namespace maxmargin::cli
