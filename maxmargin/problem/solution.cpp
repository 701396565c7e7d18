#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

std::string_view to_string(Ended ended) {
  switch (ended) {
    case Ended::converged:
      return "converged";
    case Ended::iteration_limit:
      return "iteration limit";
    case Ended::time_limit:
      return "time limit";
    case Ended::stalled:
      return "stalled";
    case Ended::unbounded:
      return "unbounded";
    case Ended::cancelled:
      return "cancelled";
  }
  return {};
}

}  // namespace maxmargin
