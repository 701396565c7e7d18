#include "maxmargin/structured/solvers/solve.hpp"

#include <algorithm>

#include "maxmargin/base/error.hpp"

namespace maxmargin {

StructuredSolver structured_solver_named(std::string_view name) {
  std::optional<StructuredSolver> found;
  std::string names;
  for_each_component<StructuredSolver>([&](const auto& solver) {
    if (solver.name == name) found = solver;
    names += (names.empty() ? "" : ", ") + std::string(solver.name);
  });
  if (!found)
    throw Error(Fault::usage, "unknown solver '" + std::string(name) + "'",
                "structural machines have " + names);
  return *found;
}

SolvedStructured solve(const Structured& problem, const StructuredSolver& solver, const Stop& stop,
                       const StructuredRun& how) {
  check(problem);
  if (!how.start.empty() && how.start.size() != problem.oracle.examples())
    throw Error(Fault::data, "the planes to start from are those of other examples",
                "resume with the data that the model was trained on");
  StructuredSolution solution =
      visit_list([&](const auto& chosen) { return run(problem, chosen, stop, how); }, solver);
  StructuredWeights w(problem, solution.planes);
  CertifiedStructures own = certify(problem, solution.planes, {w}, how.threads);
  if (!solution.w.empty()) {
    StructuredWeights other(problem.oracle, solution.w);
    CertifiedStructures better = certify(problem, solution.planes, {w, &other}, how.threads);
    if (better.certificate.gap < own.certificate.gap) {
      own = std::move(better);
      w = std::move(other);
    } else {
      solution.w.clear();
    }
  }
  const bool holds =
      own.certificate.relative_gap <= stop.relative_gap && own.certificate.violation <= stop.kkt;
  if (solution.ended == Ended::converged && !holds) solution.ended = Ended::stalled;
  return {std::move(solution), own.certificate, std::move(w)};
}

Planes planes_for_cost(Planes planes, const Structured& from, double C) {
  if (from.slack == Slack::none) return planes;
  for (auto& each : planes)
    for (Plane& plane : each) plane.alpha *= C / from.C;
  return planes;
}

}  // namespace maxmargin
