#pragma once

#include "maxmargin/structured/structured.hpp"

namespace maxmargin {

struct DoctorOptions {
  std::size_t examples = 64;  ///< how many are examined, spread over all
  std::size_t weights = 4;    ///< random w beside w = 0
  std::uint64_t seed = 1;
};

/// Tests an oracle before training. The loss of the truth is 0 and no loss is negative; features
/// stay within the dimensions; difference() is the truth's features minus those of the structure;
/// the oracle is deterministic, and its answer is no worse than the truth and than all structures
/// that it returned for other w (not asked of a heuristic). Throws an Error that names the example.
void examine(const Structured& problem, const DoctorOptions& options = {});

}  // namespace maxmargin
