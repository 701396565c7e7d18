#include "maxmargin/structured/solvers/solve.hpp"

#include <algorithm>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/solver/patience.hpp"

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
  Patience patience(how.observer, std::min(how.seconds, stop.seconds));
  if (solution.ended == Ended::cancelled) patience.end(Control::cancel);
  if (solution.ended == Ended::time_limit) patience.end(Control::proceed);
  const Threads hurried =
      how.threads.interrupted_by([&patience] { return patience.is_exhausted(); });
  StructuredCertificate certificate;
  certificate.exactness = problem.oracle.exactness();
  try {
    certificate = certify(problem, solution.planes, {w}, hurried).certificate;
    if (!solution.w.empty()) {
      StructuredWeights other(problem.oracle, std::exchange(solution.w, {}));
      const StructuredCertificate better =
          certify(problem, solution.planes, {w, &other}, hurried).certificate;
      if (better.gap < certificate.gap) {
        certificate = better;
        solution.w = other.coefficients();
        w = std::move(other);
      }
    }
  } catch (const Threads::Interrupted&) {
    // Of the better w nothing is known, or of neither.
  }
  const bool holds =
      certificate.relative_gap <= stop.relative_gap && certificate.violation <= stop.kkt;
  if (solution.ended == Ended::converged && !holds)
    solution.ended = patience.ended().value_or(Ended::stalled);
  return {std::move(solution), certificate, std::move(w)};
}

Planes planes_for_cost(Planes planes, const Structured& from, double C) {
  if (from.slack == Slack::none) return planes;
  for (auto& each : planes)
    for (Plane& plane : each) plane.alpha *= C / from.C;
  return planes;
}

}  // namespace maxmargin
