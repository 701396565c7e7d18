#pragma once

#include "maxmargin/base/error.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin::cli {

/// Exit codes; scripts rely on the numbers.
enum ExitCode {
  exit_ok = 0,
  exit_internal = 1,
  exit_usage = 2,
  exit_data = 3,
  exit_not_converged = 4,
  exit_stopped = 5,
  exit_io = 6
};

inline constexpr const char* exit_code_help =
    "Exit codes:\n"
    "  0  done: converged, or the certificate holds\n"
    "  2  the command line is wrong\n"
    "  3  the data or the model file is wrong\n"
    "  4  not converged, model written; or verify found that a certificate does not hold\n"
    "  5  stopped by a limit or a signal, best model so far written\n"
    "  6  a file could not be read or written, or the memory did not suffice\n";

inline int exit_code(Fault fault) {
  switch (fault) {
    case Fault::usage:
      return exit_usage;
    case Fault::data:
      return exit_data;
    case Fault::io:
      return exit_io;
  }
  return exit_internal;
}

inline int exit_code(Ended ended) {
  switch (ended) {
    case Ended::converged:
      return exit_ok;
    case Ended::stalled:
    case Ended::unbounded:
      return exit_not_converged;
    case Ended::iteration_limit:
    case Ended::time_limit:
    case Ended::cancelled:
      return exit_stopped;
  }
  return exit_internal;
}

}  // namespace maxmargin::cli
