#include "maxmargin/solver/streamed_solvers.hpp"

#include <utility>

#include "maxmargin/base/memory_budget.hpp"

namespace maxmargin {
namespace {

StreamedCertified certified(const StreamedProblem& problem, const StreamedSolution& found,
                            const Threads& threads) {
  return certify(
      problem, [&](const RowChunk& chunk) { return variables_of(problem, found.position, chunk); },
      found.free, threads);
}

StreamedCertified certified(const StreamedProblem& problem, const StreamedLagrangianSolution& found,
                            const Threads& threads) {
  return certify(
      problem, [&](const RowChunk& chunk) { return found.of(problem, chunk); }, {}, threads);
}

bool meets(const Certificate& certificate, const Stop& stop) {
  return certificate.kkt <= stop.kkt && certificate.relative_gap <= stop.relative_gap;
}

}  // namespace

StreamedSolver streamed_solver(std::string_view name, const std::optional<Solver>& settings,
                               const StreamedProblem& problem, const Stop& stop,
                               std::size_t memory_bytes) {
  if (name == Lagrangian::name) {
    Lagrangian solver;
    if (settings) solver = std::get<Lagrangian>(*settings);
    solver.stop = stop;
    return solver;
  }
  StreamedInteriorPoint solver;
  solver.stop = stop;
  const std::size_t taken = streamed_pass_bytes(*problem.rows, problem.numbers());
  solver.working_bytes = MemoryBudget{memory_bytes}.without(taken).bytes;
  return solver;
}

std::size_t bytes_per_variable(const StreamedSolver& solver) {
  return std::holds_alternative<Lagrangian>(solver) ? streamed_variable_bytes : 0;
}

StreamedSolved solve(const StreamedProblem& problem, const StreamedSolver& solver,
                     const Run& context) {
  return visit_list(
      [&](const auto& chosen) {
        const auto found = run(problem, chosen, context);
        StreamedSolved solved{certified(problem, found, context.threads),
                              found.ended,
                              found.iterations,
                              0,
                              found.traffic,
                              found.seconds_passing};
        if constexpr (requires { found.rows_in_memory; })
          solved.rows_in_memory = found.rows_in_memory;
        if (solved.ended == Ended::converged && !meets(solved.certified.certificate, chosen.stop))
          solved.ended = Ended::stalled;
        return solved;
      },
      solver);
}

}  // namespace maxmargin
