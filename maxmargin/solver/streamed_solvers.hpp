#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "maxmargin/solver/interior_point/streamed.hpp"
#include "maxmargin/solver/lagrangian/streamed_lagrangian.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin {

/// The list of solvers of problems with the rows on disk.
using StreamedSolver = std::variant<StreamedInteriorPoint, Lagrangian>;

/// The one of that name (as that of the solver of problems in memory), with so much memory to use
/// and options of its own, where there are some.
StreamedSolver streamed_solver(std::string_view name, const std::optional<Solver>& settings,
                               const StreamedProblem& problem, const Stop& stop,
                               std::size_t memory_bytes);

/// What a solver keeps in memory of each variable.
std::size_t bytes_per_variable(const StreamedSolver& solver);

/// The solution of a streamed problem, and how it was found.
struct StreamedSolved {
  StreamedCertified certified;
  Ended ended = Ended::stalled;
  std::size_t iterations = 0;      ///< passes over the rows
  std::size_t rows_in_memory = 0;  ///< that were taken there at the end
  RowFile::Traffic traffic;        ///< of all passes
  double seconds_passing = 0;      ///< in passes
};

/// Runs the solver and certifies its solution by other code. Where the certificate misses the
/// tolerances, the solution is not `converged`, whatever the solver says.
StreamedSolved solve(const StreamedProblem& problem, const StreamedSolver& solver,
                     const Run& context);

}  // namespace maxmargin
