#include "cli/terminal/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/output.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"

namespace maxmargin::cli {
namespace {

/// The long option for one of svm-train's letters: 'c' -> "--cost"; empty if none.
std::string_view long_option_for(char letter) {
  switch (letter) {
    case 's':
      return "--task";
    case 't':
    case 'k':
      return "--kernel";
    case 'd':
      return "--degree";
    case 'g':
      return "--gamma";
    case 'r':
      return "--coef0";
    case 'c':
    case 'C':
      return "--cost";
    case 'n':
      return "--nu";
    case 'p':
      return "--epsilon";
    case 'm':
      return "--memory";
    case 'e':
      return "--tolerance";
    case 'w':
      return "--class-weight";
    case 'q':
      return "--quiet";
    case 'j':
      return "--json";
    default:
      return {};
  }
}

constexpr std::size_t width = 80;
constexpr std::size_t column = 26;

/// Breaks lines at spaces. A line with two spaces in a row is a row of a table: what is broken off
/// stays in its second column.
std::vector<std::string> wrap(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  std::istringstream input(text);
  for (std::string line; std::getline(input, line);) {
    const std::size_t gap = line.find("  ");
    const std::size_t indent =
        gap == std::string::npos ? 0 : std::min(line.find_first_not_of(' ', gap), line.size());
    while (line.size() > most) {
      std::size_t end = line.rfind(' ', most);
      if (end == std::string::npos || end <= indent) end = line.find(' ', most);
      if (end == std::string::npos) break;
      lines.push_back(line.substr(0, end));
      line = std::string(indent, ' ') + line.substr(end + 1);
    }
    lines.push_back(line);
  }
  return lines;
}

std::string two_columns(const std::string& left, const std::string& right) {
  std::string out = "  " + left;
  bool first = out.size() < column;
  if (!first) out += '\n';
  for (const std::string& line : wrap(right, width - column)) {
    out += std::string(first ? column - out.size() : column, ' ') + line + '\n';
    first = false;
  }
  return out;
}

/// "-o,--output": the first long name, else the first name of an option.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> all;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) all.push_back("--" + name);
  return all;
}

std::string unknown_argument(const CLI::App& verb, const std::string& argument) {
  if (!argument.starts_with('-') || argument == "-")
    return fmt::format("unexpected argument '{}'", argument);
  const std::string typed = argument.substr(0, argument.find('='));
  const std::vector<std::string> known = option_names(verb);
  std::string meant = nearest(typed, known);
  if (!typed.starts_with("--")) {
    meant = std::string(long_option_for(typed[1]));
    if (std::ranges::count(known, meant) == 0) meant.clear();
  }
  return fmt::format("unknown option {}{}", typed,
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = "\nUsage: " + name;
  for (const CLI::Option* option : app->get_options())
    if (option->get_positional()) usage += " " + option->get_name(true);
  if (!app->get_subcommands({}).empty()) usage += " COMMAND";
  return usage + " [OPTIONS]\n";
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool is_positional) const {
  std::string left = option->get_name(is_positional, !is_positional);
  left.resize(std::min(left.size(), left.find('{')));  // a flag's hidden default
  for (std::size_t comma = left.find(','); comma != std::string::npos;
       comma = left.find(',', comma + 2))
    left.insert(comma + 1, " ");
  if (!is_positional) {
    if (!option->get_option_text().empty())
      left += option->get_option_text();
    else if (option->get_type_size() != 0 && !option->get_type_name().empty())
      left += " " + option->get_type_name();
  }
  return two_columns(left, option->get_description());
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
  return two_columns(verb->get_name(), verb->get_description());
}

std::string Choices::text() const {
  std::size_t widest = 0;
  for (const auto& [name, meaning] : rows_) widest = std::max(widest, name.size());
  std::string text;
  // Two spaces in a row make a table of it, whose second column wraps as such.
  for (const auto& [name, meaning] : rows_)
    text += fmt::format("\n{:<{}}  {}", name, widest, meaning);
  return text;
}

std::string examples(const std::vector<std::string>& lines) {
  std::string text = "Examples:\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text;
}

std::string explain(const CLI::App& program, const CLI::ParseError& error) {
  const auto verbs = program.get_subcommands();
  const CLI::App& where = verbs.empty() ? program : *verbs.front();
  const auto left_over = where.remaining();
  std::string what;
  if (!left_over.empty() && verbs.empty() && !left_over.front().starts_with('-')) {
    std::vector<std::string> known;
    for (const CLI::App* verb : program.get_subcommands({})) known.push_back(verb->get_name());
    what = fmt::format("unknown command '{}'; {}", left_over.front(),
                       suggestion(left_over.front(), known));
  } else if (!left_over.empty()) {
    what = unknown_argument(where, left_over.front());
  } else if (verbs.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    what = "a command is missing";
  } else if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string text = error.what();
    what = text.substr(0, text.find(':')) + " needs a value";
  } else {
    what = error.what();
  }
  return fmt::format("{}{} see {}{} --help", what, what.ends_with('?') ? "" : ";",
                     program.get_name(), verbs.empty() ? "" : " " + where.get_name());
}

namespace {

/// `--option=` without a value would swallow the next argument.
void refuse_empty_values(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") return;
    if (argument.starts_with("--") && argument.ends_with('='))
      throw Error(Fault::usage,
                  fmt::format("{} needs a value", argument.substr(0, argument.size() - 1)),
                  "write it behind the = sign");
  }
}

}  // namespace

CommandLine::CommandLine() : App("Support vector machines, fast and certified.", "maxmargin") {
  formatter(std::make_shared<HelpFormatter>());
  get_formatter()->label("Positionals", "Arguments");
  set_help_flag("-h,--help", "show this help");
  set_version_flag("--version", "maxmargin " MAXMARGIN_VERSION, "show the version");
  require_subcommand(1);
  footer(std::string("'maxmargin COMMAND --help' shows the options of a command.\n\n") +
         exit_code_help);
}

std::optional<int> CommandLine::answered(int argc, const char* const* argv) {
  refuse_empty_values(argc, argv);
  try {
    parse(argc, argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    exit(asked, text, text);
    print(text.str());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw Error(Fault::usage, explain(*this, error));
  }
  return std::nullopt;
}

}  // namespace maxmargin::cli
