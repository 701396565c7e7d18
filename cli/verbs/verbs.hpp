#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

namespace maxmargin::cli {

/// One verb of the program: its part of the command line, and what to do once that is parsed. `run`
/// returns the exit code and throws Error for bad input.
struct Verb {
  CLI::App* app;
  std::function<int()> run;
};

Verb add_train(CLI::App& program);
Verb add_predict(CLI::App& program);
Verb add_verify(CLI::App& program);
Verb add_check(CLI::App& program);
Verb add_inspect(CLI::App& program);
Verb add_convert(CLI::App& program);
Verb add_solvers(CLI::App& program);
Verb add_race(CLI::App& program);
Verb add_stream(CLI::App& program);
Verb add_path(CLI::App& program);
Verb add_estimate(CLI::App& program);

struct NamedVerb {
  std::string_view name;
  Verb (*add)(CLI::App&);
};
inline constexpr NamedVerb all_verbs[] = {
    {"train", add_train},     {"predict", add_predict},  {"verify", add_verify},
    {"check", add_check},     {"inspect", add_inspect},  {"convert", add_convert},
    {"solvers", add_solvers}, {"race", add_race},        {"stream", add_stream},
    {"path", add_path},       {"estimate", add_estimate}};

}  // namespace maxmargin::cli
