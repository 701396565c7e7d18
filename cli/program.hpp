#pragma once

namespace maxmargin::cli {

/// The program `maxmargin` with these arguments, from the first line to its exit code.
int run_program(int argc, char** argv);

}  // namespace maxmargin::cli
