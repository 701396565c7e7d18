#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "cli/libsvm/commands.hpp"
#include "cli/svmstruct/commands.hpp"
#include "cli/terminal/exit_codes.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/signals.hpp"
#include "cli/verbs/structured.hpp"
#include "cli/verbs/verbs.hpp"
#include "maxmargin/base/error.hpp"

namespace maxmargin::cli {
namespace {

int complain(int code, std::string_view what) {
  std::string line = fmt::format("maxmargin: {}", what);
  for (char& letter : line)
    if (letter == '\n' || letter == '\r') letter = ' ';
  tell(line + "\n");
  return code;
}

/// Whether the program goes by the name of a command of LIBSVM's or SVMstruct's; runs that then.
std::optional<int> run_by_other_name(std::span<char*> arguments) {
  for (int named = 0; named < 2 && !arguments.empty(); ++named) {
    const std::string_view path = arguments[0];
    arguments = arguments.subspan(1);
    const std::string_view name = named == 0 ? path.substr(path.rfind('/') + 1) : path;
    if (const libsvm::Command command = libsvm::command_named(name))
      return libsvm::run(command, arguments);
    if (const auto code = svmstruct::run(name, arguments)) return code;
  }
  return std::nullopt;
}

/// The command of this name, or all where there is none: the options of all take longer to list
/// than a small model takes to predict.
std::vector<Verb> verbs_for(std::string_view name, CLI::App& program) {
  const bool is_known =
      std::ranges::any_of(all_verbs, [&](const NamedVerb& verb) { return verb.name == name; });
  std::vector<Verb> verbs;
  for (const NamedVerb& verb : all_verbs)
    if (!is_known || verb.name == name) {
      verbs.push_back(verb.add(program));
      verbs.back().app->group("Commands");
    }
  return verbs;
}

int run(int argc, char** argv) {
  CommandLine program;
  const std::vector<Verb> verbs = verbs_for(argc > 1 ? argv[1] : "", program);
  if (const auto code = program.answered(argc, argv)) return *code;
  for (const Verb& verb : verbs)
    if (verb.app->parsed()) return verb.run();
  return exit_internal;
}

/// One line for whatever ends it early.
int run_and_explain(int argc, char** argv) {
  try {
    if (const auto code = run_by_other_name({argv, static_cast<std::size_t>(argc)})) return *code;
    if (const auto code = run_structured({argv, static_cast<std::size_t>(argc)})) return *code;
    return run(argc, argv);
  } catch (const Error& error) {
    return complain(exit_code(error.fault()), error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return complain(exit_internal, fmt::format("internal error: {}", error.what()));
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  prepare_process();
  try {
    return run_and_explain(argc, argv);
  } catch (const std::bad_alloc&) {
    // Nothing that needs memory may be done here.
    tell(out_of_memory);
    return exit_io;
  }
}

}  // namespace maxmargin::cli
