#pragma once

#include <CLI/CLI.hpp>
#include <functional>

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

}  // namespace maxmargin::cli
