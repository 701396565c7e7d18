#pragma once

#include <vector>

#include "maxmargin/certify/streamed.hpp"
#include "maxmargin/solver/lagrangian/lagrangian.hpp"

namespace maxmargin {

/// The variables of a run of the Lagrangian method over rows on disk, in the order of the rows.
struct StreamedLagrangianSolution {
  std::vector<double> a;
  std::vector<std::size_t> before;  ///< of each chunk: how many come before
  Ended ended = Ended::stalled;
  std::size_t iterations = 0;  ///< passes over the rows
  RowFile::Traffic traffic;
  double seconds_passing = 0;

  std::vector<double> of(const StreamedProblem& problem, const RowChunk& chunk) const;
};

/// Lagrangian (algorithm 10.5) for a linear kernel with the rows on disk: one pass for the n x n
/// matrix 1 + Z'diag(1/c)Z, which is factored once, then one pass an iteration; now and then, ever
/// rarer, three more for the equations of the variables inside. Its certificate in the middle of
/// the run is that of the last variables, none below 0; the next pass tells it. Throws Error for
/// blocks that refuses() would not take, and for a free constant.
///
/// Beside what a pass takes so much is in memory for each variable: a, r, and where it is.
inline constexpr std::size_t streamed_variable_bytes = 2 * sizeof(double) + 1;
StreamedLagrangianSolution run(const StreamedProblem& problem, const Lagrangian& options,
                               const Run& run);

}  // namespace maxmargin
