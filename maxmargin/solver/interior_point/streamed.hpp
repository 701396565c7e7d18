#pragma once

#include <optional>
#include <string>
#include <vector>

#include "maxmargin/certify/streamed.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// The interior point method for a linear kernel with the rows on disk (S6), one pass over them an
/// iteration and no vector over them in memory.
///
/// Eliminating variables and slacks from the equations of the path (10.46) row by row leaves, for
/// given w and b, the variables of a row as functions of its f(x) and mu alone; they are computed
/// where they are needed and stored nowhere. What is left is
///
///   w - X'beta(f, mu) = 0,   (b) - 1'beta = 0,
///
/// whose Newton matrix 1 + Z'D^-1 Z is that of (10.54-55). One pass sums it up together with both
/// right-hand sides: the corrector (what is left of the equations) and the predictor (how the path
/// moves with mu). The last digits come from the rows near their corners, which are few by then:
/// they are taken into memory and solved for exactly, with all others at their bounds. Where more
/// rows stand on their corners than fit, as equal rows may, w is taken from the end of the path and
/// a direction beside it tells their variables, by further passes.
///
/// Needs losses whose variables have bounds or curvature. An iteration costs m n^2 operations.
struct StreamedInteriorPoint {
  Stop stop;
  std::size_t working_bytes = std::size_t{256} << 20;  ///< for rows taken into memory
  std::size_t working_rows = 0;  ///< no more than these; 0: as many as are worth it
};

/// The variables of a solution, which nobody stores: on the path of `mu` at `point`, or at their
/// bounds for mu = 0, but for those within `reach` of a corner: these follow from `beside`, or have
/// values of their own.
struct StreamedPosition {
  std::vector<double> point;
  double mu = 0;
  double reach = -1;
  std::vector<double> beside;             ///< on the path of 1 that leads here, as in Corners
  std::vector<double> own;                ///< in the order of the rows
  std::vector<std::uint64_t> own_before;  ///< of each chunk: how many come before
};
std::vector<double> variables_of(const StreamedProblem& problem, const StreamedPosition& position,
                                 const RowChunk& chunk);

struct StreamedSolution {
  StreamedPosition position;
  std::vector<double> free;  ///< c and b, those that cost nothing
  Ended ended = Ended::stalled;
  std::size_t iterations = 0;      ///< passes over the rows
  std::size_t rows_in_memory = 0;  ///< that were taken there at the end
  RowFile::Traffic traffic;        ///< of all passes
  double seconds_passing = 0;      ///< in passes
};

/// Why this solver cannot take a block, or nothing.
std::optional<std::string> refuses(const Block& block);

/// The memory that the sums of a pass take.
std::size_t streamed_sum_bytes(std::size_t numbers);
/// That a pass takes beside the rows that are kept at the end.
std::size_t streamed_pass_bytes(const RowFile& rows, std::size_t numbers);
/// And what each row takes that is.
std::size_t streamed_row_bytes(std::size_t numbers);

StreamedSolution run(const StreamedProblem& problem, const StreamedInteriorPoint& options,
                     const Run& run);

}  // namespace maxmargin
