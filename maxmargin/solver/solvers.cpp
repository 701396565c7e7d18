#include "maxmargin/solver/solvers.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/problem/consistent.hpp"
#include "maxmargin/solver/solve_from.hpp"

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

/// What to do about a refusal: the solvers that would take the problem with as much memory.
std::string advice(const DualQp& qp, const Solver& refusing) {
  const std::size_t memory = std::visit(
      [](const auto& chosen) {
        if constexpr (requires { chosen.memory_bytes; })
          return chosen.memory_bytes;
        else
          return chosen.cache_bytes;
      },
      refusing);
  std::string names;
  for (const Solver& each : fitting_solvers(qp, stop_of(refusing), memory))
    names += (names.empty() ? "" : ", ") + std::string(name_of(each));
  if (names.empty()) return "no solver can: give more --memory, or see --approximate";
  return "these can: " + names + "; --solver auto chooses";
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
  Certified solved = solve_from(nullptr, qp, solver, threads, observer);
  solved.f.clear();
  return solved;
}

Certified solve_from(const Known* start, const DualQp& qp, const Solver& solver,
                     const Threads& threads, const Observer& observer, Judged judged) {
  require_consistent(qp);
  if (const auto why = refusal(qp, solver))
    throw Error(
        Fault::usage,
        "the solver '" + std::string(name_of(solver)) + "' cannot take this problem: " + *why,
        advice(qp, solver));
  const Stopwatch clock;
  const Stop& stop = stop_of(solver);
  // What is known while the certificate is made; an observer that ended the run hears no more.
  Progress last;
  Control answer = Control::proceed;
  Run context{threads, {}, {}, Precision::fast, 0, {}};
  if (observer)
    context.observer = [&](const Progress& progress) {
      last = progress;
      return answer = observer(progress);
    };
  const auto certified = [&](Solution solution) {
    last.phase = "certify";
    last.seconds = clock.seconds();
    if (observer && answer == Control::proceed) observer(last);
    std::vector<double> f = std::exchange(solution.f, {});
    if (judged == Judged::apart || f.empty())
      return certify_near(start, qp, std::move(solution), context.precision, threads);
    const Known own{solution.a, std::move(f), expected_rounding(qp, solution.a).f};
    return certify_near(&own, qp, std::move(solution), context.precision, threads);
  };
  if (start != nullptr) {
    context.start = start->a;
    context.start_f = start->f;
  }
  Certified best;
  std::size_t iterations = 0, asked = 0, found = 0;
  double certifying = 0;
  if (start != nullptr && !start->lambda.empty()) {
    Solution solution;
    solution.a = start->a;
    solution.lambda = start->lambda;
    solution.ended = Ended::converged;
    best = certify_near(start, qp, std::move(solution), Precision::fast, threads);
    if (reached(best.certificate, stop) &&
        float_is_enough(qp, best.solution, best.certificate.dual, stop))
      return best;
  }
  for (int round = 0; round < most_refinements; ++round) {
    Solution solution =
        std::visit([&](const auto& chosen) { return run(qp, chosen, context); }, solver);
    iterations += solution.iterations;
    asked += solution.values_asked;
    found += solution.values_found;
    const bool converged = solution.ended == Ended::converged;
    // What the solver knows of the dual tells which certificate will be needed.
    if (converged && !float_is_enough(qp, solution, solution.best_dual, stop))
      context.precision = Precision::exact;
    Certified now = certified(std::move(solution));
    certifying += now.seconds;
    if (context.precision == Precision::fast && converged &&
        !float_is_enough(qp, now.solution, now.certificate.dual, stop)) {
      context.precision = Precision::exact;
      now = certified(std::move(now.solution));
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
    context.start_f = best.f;
    context.precision = Precision::exact;
    context.seconds_before = clock.seconds();
  }
  best.solution.iterations = iterations;
  best.solution.values_asked = asked;
  best.solution.values_found = found;
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

std::vector<Solver> fitting_solvers(const DualQp& qp, const Stop& stop, std::size_t memory_bytes) {
  std::vector<Solver> fitting;
  for_each_component<Solver>([&](const auto& each) {
    const Solver solver = with_budget(each, qp, stop, memory_bytes);
    if (!refusal(qp, solver)) fitting.push_back(solver);
  });
  return fitting;
}

}  // namespace maxmargin
