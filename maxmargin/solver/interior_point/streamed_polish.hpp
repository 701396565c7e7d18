#pragma once

#include <optional>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/solver/interior_point/streamed.hpp"

namespace maxmargin {

/// The rows near a corner at a point, in memory, and the sums of all others at their bounds.
struct CornerRows {
  bool complete = true;  ///< false: the pass was stopped
  bool too_many = false;
  StreamedPosition position;  ///< without the values
  Buffer<double> Z;           ///< rows that were kept, of each what is penalised
  std::vector<double> free;   ///< and what is free
  std::vector<Index> row;     ///< of each variable
  std::vector<Block> block;
  std::vector<double> fixed;  ///< Z'beta of the others
  double fixed_size = 0;      ///< their |beta|, summed
  /// How good `before` is, where there was one.
  std::optional<Certificate> examined;
  RowFile::Traffic traffic;
  double seconds = 0;
};

struct CornerSearch {
  std::span<const double> point;
  double reach = 0;
  std::size_t most = 0;  ///< rows
  const StreamedPosition* before = nullptr;
};
/// One pass: collects the rows within `reach` of a corner, `most` of them at most, and examines the
/// solution `before`, if there is one, with w and b at the same point.
CornerRows collect_corner_rows(const StreamedProblem& problem, const CornerSearch& search,
                               const Threads& threads, const GoOn& go_on);

/// The optimum where only the rows near their corners move. Nothing if their bounds do not
/// let the variables sum up to what the constant or a function asks for.
struct Restricted {
  StreamedPosition position;
  std::vector<double> point;
};
std::optional<Restricted> solve_restricted(const StreamedProblem& problem, CornerRows on_corners,
                                           const Run& run);

}  // namespace maxmargin
