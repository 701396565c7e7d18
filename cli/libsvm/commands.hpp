#pragma once

#include <span>
#include <string>

// LIBSVM's three commands as modes of this program: called by the name svm-train, svm-predict or
// svm-scale (links to the program), or with that name as its first word. Output, files and
// exit codes are LIBSVM's; where LIBSVM gets something wrong without a word, there is an error
// here.

namespace maxmargin::cli::libsvm {

using Arguments = std::span<char* const>;  ///< behind the command's name

int train(Arguments arguments);
int predict(Arguments arguments);
int scale(Arguments arguments);

/// The command of that name, or null.
using Command = int (*)(Arguments);
Command command_named(std::string_view name);

/// Runs it. Every error is reported as LIBSVM reports its own: on standard error, with exit code 1.
int run(Command command, Arguments arguments);

}  // namespace maxmargin::cli::libsvm
