#pragma once

#include <optional>

#include "maxmargin/solver/limits.hpp"

namespace maxmargin {

/// The best answer of an iterative run so far.
struct Standing {
  std::size_t steps = 0;
  double primal = infinity, dual = -infinity;      ///< the best bounds met
  double relative_gap = infinity, kkt = infinity;  ///< of the best answer
};

/// Why a run on a problem of `size` variables may not go on, or nothing.
std::optional<Ended> ended_by_limits(const Standing& standing, std::size_t size, const Stop& stop,
                                     Limits& limits);

}  // namespace maxmargin
