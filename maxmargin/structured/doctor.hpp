#pragma once

#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

struct DoctorOptions {
  std::size_t examples = 64;  ///< as many, spread over all
  std::size_t weights = 4;    ///< random w beside w = 0
  std::uint64_t seed = 1;
};

/// Looks for what would make training or its certificate wrong, before training: the truth has no
/// loss, no loss is negative, features stay within the dimensions, difference() is the truth's
/// features less the structure's, the oracle's answer is the same twice and no worse than the truth
/// nor than any structure that it returned for another w. Throws an Error that names the example.
/// What a heuristic oracle may miss is not held against it.
void examine(const Structured& problem, const DoctorOptions& options = {});

}  // namespace maxmargin
