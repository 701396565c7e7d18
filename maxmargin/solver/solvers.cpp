#include "maxmargin/solver/solvers.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/problem/consistent.hpp"

namespace maxmargin {
namespace {

// Asked for less than so many times what the rounding of float kernel values may change, the answer
// is judged, and if need be improved, with kernel values in double.
constexpr double rounding_margin = 4;
constexpr int most_refinements = 6;

const Stop& stop_of(const Solver& solver) {
  return std::visit([](const auto& chosen) -> const Stop& { return chosen.stop; }, solver);
}

bool reached(const Certificate& certificate, const Stop& stop) {
  return certificate.kkt <= stop.kkt &&
         (!certificate.mercer || certificate.relative_gap <= stop.relative_gap);
}

bool float_is_enough(const DualQp& qp, const Solution& solution, double dual, const Stop& stop) {
  const Rounding rounding = expected_rounding(qp, solution.a);
  return stop.kkt >= rounding_margin * rounding.f &&
         stop.relative_gap * std::abs(dual) >= rounding_margin * rounding.objective;
}

}  // namespace

std::optional<std::string> refusal(const DualQp& qp, const Solver& solver) {
  return std::visit(
      [&](const auto& chosen) -> std::optional<std::string> {
        if constexpr (!requires { chosen.any_convex_cost; })
          for (const Block& block : qp.block)
            if (block.entropy != Entropy::none) return "its costs must be piecewise quadratic";
        return refuses(qp, chosen);
      },
      solver);
}

Certified solve(const DualQp& qp, const Solver& solver, const Threads& threads,
                const Observer& observer) {
  require_consistent(qp);
  if (const auto why = refusal(qp, solver))
    throw Error(
        Fault::usage,
        "the solver '" + std::string(name_of(solver)) + "' cannot take this problem: " + *why,
        "use --solver auto");
  const Stopwatch clock;
  const Stop& stop = stop_of(solver);
  Run context{threads, observer, {}, Precision::fast, 0, {}};
  Certified best;
  std::size_t iterations = 0;
  double certifying = 0;
  for (int round = 0; round < most_refinements; ++round) {
    Solution solution =
        std::visit([&](const auto& chosen) { return run(qp, chosen, context); }, solver);
    iterations += solution.iterations;
    const bool converged = solution.ended == Ended::converged;
    // What the solver knows of the dual tells which certificate will be needed.
    if (converged && !float_is_enough(qp, solution, solution.best_dual, stop))
      context.precision = Precision::exact;
    Certified now = certify(qp, std::move(solution), context.precision, threads);
    certifying += now.seconds;
    if (context.precision == Precision::fast && converged &&
        !float_is_enough(qp, now.solution, now.certificate.dual, stop)) {
      now = certify(qp, std::move(now.solution), Precision::exact, threads);
      certifying += now.seconds;
    }
    const bool enough = reached(now.certificate, stop);
    const bool better = round == 0 || now.certificate.kkt < best.certificate.kkt;
    const Ended ended = now.solution.ended;
    if (better) best = std::move(now);
    best.solution.ended = ended;
    if (enough || ended != Ended::converged || !better) break;
    // Corrections are small, so the rounding of the float rows that carry them is negligible.
    context.start = best.solution.a;
    context.start_f = std::move(best.f);
    context.precision = Precision::exact;
    context.seconds_before = clock.seconds();
  }
  best.f.clear();
  best.solution.iterations = iterations;
  best.seconds = certifying;
  if (best.solution.ended == Ended::converged && !reached(best.certificate, stop))
    best.solution.ended = Ended::stalled;
  return best;
}

namespace {

template <class Options>
Options with_budget(Options options, const DualQp& qp, const Stop& stop, std::size_t memory_bytes) {
  options.stop = stop;
  if constexpr (requires { options.cache_bytes; })
    // A shrunk problem has a matrix of its own for a while.
    options.cache_bytes = memory_bytes - std::min(memory_bytes, 2 * qp.K->bytes());
  if constexpr (requires { options.memory_bytes; }) options.memory_bytes = memory_bytes;
  return options;
}

}  // namespace

Choice choose_solver(const DualQp& qp, const Stop& stop, std::size_t memory_bytes) {
  const std::string reason =
      qp.A.empty() ? "exact kernel machine without an equality row"
                   : "exact kernel machine with " +
                         (qp.A.size() == 1 ? "one equality row"
                                           : std::to_string(qp.A.size()) + " equality rows");
  const Solver smo = with_budget(Smo{}, qp, stop, memory_bytes);
  if (!refusal(qp, smo)) return {smo, reason};
  const Solver gauss_seidel = with_budget(GaussSeidel{}, qp, stop, memory_bytes);
  if (!refusal(qp, gauss_seidel)) return {gauss_seidel, reason};
  const Solver primal_dual = with_budget(PrimalDual{}, qp, stop, memory_bytes);
  if (!refusal(qp, primal_dual)) return {primal_dual, reason};
  return {with_budget(InteriorPoint{}, qp, stop, memory_bytes),
          "for problems that pairs of variables cannot solve"};
}

Solver named_solver(std::string_view name, const DualQp& qp, const Stop& stop,
                    std::size_t memory_bytes) {
  std::optional<Solver> found;
  std::string names = "auto";
  for_each_component<Solver>([&](const auto& each) {
    names += ", " + std::string(each.name);
    if (each.name == name) found = with_budget(each, qp, stop, memory_bytes);
  });
  if (!found)
    throw Error(Fault::usage, "there is no solver '" + std::string(name) + "'",
                "choose one of " + names);
  return *found;
}

Solver with_settings(const Solver& solver, const DualQp& qp, const Stop& stop,
                     std::size_t memory_bytes) {
  return std::visit(
      [&](const auto& chosen) -> Solver { return with_budget(chosen, qp, stop, memory_bytes); },
      solver);
}

}  // namespace maxmargin
