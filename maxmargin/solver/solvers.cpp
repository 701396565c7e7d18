#include "maxmargin/solver/solvers.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/certify/certify_known.hpp"
#include "maxmargin/certify/enclosure.hpp"
#include "maxmargin/problem/consistent.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/solver/patience.hpp"
#include "maxmargin/solver/solve_from.hpp"

namespace maxmargin {
namespace {

// Tolerances below so many times the expected error of f from float kernel values are judged, and
// the solution improved, with kernel values in double.
constexpr double rounding_margin = 4;
// The share of the gap asked for that rounding may take before more digits are used.
constexpr double most_charge = 0.25;
constexpr int most_refinements = 6;
// A refinement was worth it if violation or gap fell to this share.
constexpr double enough_progress = 0.9;

const Stop& stop_of(const Solver& solver) {
  return visit_list([](const auto& chosen) -> const Stop& { return chosen.stop; }, solver);
}

bool reached(const Certificate& certificate, const Stop& stop) {
  return certificate.kkt <= stop.kkt &&
         (!certificate.mercer || certificate.relative_gap <= stop.relative_gap);
}

/// The largest primal - dual that is asked for.
double gap_allowed(double dual, const Stop& stop) { return stop.relative_gap * std::abs(dual); }

/// The tolerances asked for; for a nu machine tight enough that the margin is positive.
Stop stop_for(const DualQp& qp, Stop stop) {
  constexpr double least = 0.25;
  if (is_homogeneous(qp)) stop.relative_gap = std::min(stop.relative_gap, least);
  return stop;
}

/// A relative gap that is finite is no larger than 2.
bool any_gap_will_do(const Stop& stop) { return stop.relative_gap >= 2; }

/// Whether float kernel values may suffice, estimated before f is computed.
bool float_may_do(const DualQp& qp, std::span<const double> a, double dual, const Stop& stop) {
  if (stop.kkt < rounding_margin * expected_rounding(qp, a)) return false;
  if (qp.K->definite() == Definite::no || !std::isfinite(dual) || any_gap_will_do(stop))
    return true;
  const double error = product_error(*qp.K, qp.coefficients(a), Precision::fast);
  return least_charge(qp, a, error) <= gap_allowed(dual, stop);
}

/// Whether the charge for rounding is too large a share of the gap asked for.
bool is_rounding(const Certified& found, const Stop& stop) {
  return found.certificate.mercer &&
         found.charge > most_charge * gap_allowed(found.certificate.dual, stop) &&
         found.certificate.relative_gap > stop.relative_gap;
}

double largest_scale(const DualQp& qp) {
  double largest = 0;
  for (const double value : qp.K->diagonal()) largest = std::max(largest, std::abs(value));
  return largest > 0 ? std::sqrt(largest) : 1;
}

/// Why a run has stalled, where rounding is the reason.
std::string obstacle_of(const Certified& found, const Stop& stop) {
  if (!is_rounding(found, stop)) return {};
  char text[160];
  std::snprintf(text, sizeof text,
                "of the gap %.3g may be rounding: f is known to %.1e, and the costs multiply that",
                found.charge, found.certificate.rounding);
  return text;
}

/// Tighter tolerances for another round: the solver's gap has to leave room for the charge for
/// rounding, its violation for the multipliers that the certificate chooses.
Solver with_tighter_stop(const Solver& solver, int round) {
  Solver tighter = solver;
  visit_list(
      [&](auto& chosen) {
        chosen.stop.relative_gap *= std::pow(0.5, round);
        chosen.stop.kkt *= std::pow(0.5, round);
      },
      tighter);
  return tighter;
}

// Of what a variable amounts to that meets its target by itself.
constexpr double out_of_reach = 1e30;

bool is_endless(const Block& block) {
  return !std::isfinite(block.lower) || !std::isfinite(block.upper);
}

/// With a kernel that is not positive semi-definite, the objective may fall without end along
/// variables without bounds, until they overflow. A solver is given bounds for these that no
/// optimum comes near to.
std::optional<DualQp> with_far_bounds(const DualQp& qp) {
  if (qp.K->definite() != Definite::no || std::ranges::none_of(qp.block, is_endless))
    return std::nullopt;
  double target = 0;
  for (const Block& block : qp.block) target = std::max(target, std::abs(block.linear));
  if (target == 0) target = 1;
  const double scale = largest_scale(qp), far = out_of_reach * target / (scale * scale);
  DualQp bounded = qp;
  for (Block& block : bounded.block) {
    block.lower = std::max(block.lower, -far);
    block.upper = std::min(block.upper, far);
  }
  return bounded;
}

/// Whether a variable without a bound has come to the one it was given.
bool has_gone_far(const DualQp& qp, const DualQp& bounded, std::span<const double> a) {
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block &own = qp.block[v], &far = bounded.block[v];
    if (a[v] <= far.lower && far.lower > own.lower) return true;
    if (a[v] >= far.upper && far.upper < own.upper) return true;
  }
  return false;
}

/// What is said of a solution whose certificate would take too long: f is the solver's own, or
/// none, and nobody knows how far from the optimum it is.
Certified uncertified(const DualQp& qp, Solution solution, std::vector<double> f) {
  f.resize(qp.K->size());
  Known own{solution.a, std::move(f), {infinity}};
  Certified result = certify_known(qp, std::move(solution), std::move(own));
  Certificate& certificate = result.certificate;
  certificate.primal = certificate.best_primal = certificate.gap = infinity;
  certificate.dual = certificate.best_dual = -infinity;
  certificate.relative_gap = certificate.kkt = infinity;
  result.charge = 0;
  result.obstacle = std::string(no_time_to_certify);
  return result;
}

/// Keeps the better of two certified solutions, and the best bounds of both. One that meets the
/// tolerances is better than one that does not, even if its gap is slightly larger.
void keep_better(Certified& best, Certified now, const Stop& stop) {
  const auto gap = [](const Certified& each) {
    return each.certificate.mercer ? each.certificate.gap : each.certificate.kkt;
  };
  const double primal = std::min(best.certificate.best_primal, now.certificate.best_primal);
  const double dual = std::max(best.certificate.best_dual, now.certificate.best_dual);
  const bool is_enough = reached(now.certificate, stop), was = reached(best.certificate, stop);
  const bool is_closer =
      gap(now) < gap(best) || (gap(now) == gap(best) && now.certificate.kkt < best.certificate.kkt);
  const bool is_better = best.solution.a.empty() || (is_enough == was ? is_closer : is_enough);
  if (is_better) best = std::move(now);
  best.certificate.best_primal = primal;
  best.certificate.best_dual = dual;
}

/// What to do about a refusal: the solvers that would take the problem with as much memory.
std::string advice(const DualQp& qp, const Solver& refusing) {
  const std::size_t memory = visit_list(
      [](const auto& chosen) -> std::size_t {
        if constexpr (requires { chosen.memory_bytes; }) return chosen.memory_bytes;
        if constexpr (requires { chosen.cache_bytes; }) return chosen.cache_bytes;
        return MemoryBudget::of_machine().bytes;  // solvers without a cache have no budget
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
  return visit_list(
      [&](const auto& chosen) -> std::optional<std::string> {
        if constexpr (!requires { chosen.any_convex_cost; })
          for (const Block& block : qp.block)
            if (block.entropy != Entropy::none) return "its costs must be piecewise quadratic";
        return refuses(qp, chosen);
      },
      solver);
}

Certified solve(const DualQp& qp, const Solver& solver, const Context& context) {
  Certified solved = solve_from(nullptr, qp, solver, context);
  solved.f.clear();
  return solved;
}

Certified solve_from(const Known* start, const DualQp& qp, const Solver& solver,
                     const Context& given, Judged judged) {
  require_consistent(qp);
  if (const auto why = refusal(qp, solver))
    throw Error(
        Fault::usage,
        "the solver '" + std::string(name_of(solver)) + "' cannot take this problem: " + *why,
        advice(qp, solver));
  const Stopwatch clock;
  const Stop stop = stop_of(solver), digits = stop_for(qp, stop);
  // The last progress, for reports while certifying; none after the observer has ended the run.
  Progress last;
  Control answer = Control::proceed;
  Run context{given};
  if (given.observer)
    context.observer = [&](const Progress& progress) {
      last = progress;
      return answer = given.observer(progress);
    };
  bool extended = false;           // doubles are not enough for the certificate
  std::optional<Known> in_double;  // of the round before, where its certificate was
  // Where doubles or floats are not enough a certificate may take a minute, and of many rows any:
  // not when all has to end.
  Patience patience(given.observer, std::min(given.seconds, stop.seconds));
  const Threads interruptible =
      given.threads.interrupted_by([&patience] { return patience.is_over(); });
  const Threads hurried =
      given.threads.interrupted_by([&patience] { return patience.is_exhausted(); });
  const auto finer = [&](Certified rough) {
    try {
      return certify_finer(qp, Certified(rough), given.on(interruptible));
    } catch (const Threads::Interrupted&) {
      return rough;
    }
  };
  const auto certified = [&](Solution solution) {
    last.phase = "certify";
    last.seconds = clock.seconds();
    if (given.observer && answer == Control::proceed) answer = given.observer(last);
    patience.tell(last, clock.seconds());
    if (answer != Control::proceed) patience.end(answer);
    std::vector<double> f = std::exchange(solution.f, {});
    try {
      if (extended)
        if (auto found = certify_extended(qp, solution, given.on(interruptible)))
          return std::move(*found);
    } catch (const Threads::Interrupted&) {
    }
    if (judged == Judged::apart || f.empty()) {
      // For rows of whole numbers exact values cost as much as fast ones.
      const Precision first =
          in_double || qp.K->can().coded != nullptr ? context.precision : Precision::fast;
      Certified found;
      try {
        found = certify_from(in_double ? &*in_double : start, qp, Solution(solution), first,
                             given.on(hurried));
      } catch (const Threads::Interrupted&) {
        return uncertified(qp, std::move(solution), std::move(f));
      }
      if (context.precision == first) return found;
      const double before = found.seconds;
      found = finer(std::move(found));
      found.seconds += before;
      return found;
    }
    // The solver's f has no proved error: only for machines whose gap is not reported.
    const double error = expected_rounding(qp, solution.a) / largest_scale(qp);
    if (any_gap_will_do(digits) && context.precision == Precision::fast)
      return judge_unproved(qp, std::move(solution), std::move(f), error);
    Known own{solution.a, std::move(f), {error}};
    try {
      return certify_from(&own, qp, Solution(solution), context.precision, given.on(interruptible));
    } catch (const Threads::Interrupted&) {
      return judge_unproved(qp, std::move(solution), std::move(own.f), error);
    }
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
    best = certify_from(start, qp, std::move(solution), Precision::fast, given);
    if (reached(best.certificate, stop) &&
        stop.kkt >= rounding_margin * expected_rounding(qp, best.solution.a))
      return best;
    best = {};
  }
  const std::optional<DualQp> bounded = with_far_bounds(qp);
  for (int round = 0; round < most_refinements; ++round) {
    const Solver tighter = with_tighter_stop(solver, round);
    Solution solution = visit_list(
        [&](const auto& chosen) { return run(bounded ? *bounded : qp, chosen, context); }, tighter);
    if (bounded && has_gone_far(qp, *bounded, solution.a)) solution.ended = Ended::unbounded;
    iterations += solution.iterations;
    asked += solution.values_asked;
    found += solution.values_found;
    const Ended ended = solution.ended;
    const bool converged = ended == Ended::converged;
    // More digits may help on where a solver has stalled.
    const bool at_its_end = converged || ended == Ended::stalled;
    // The solver's best dual tells which precision the certificate will need.
    if (at_its_end && !float_may_do(qp, solution.a, solution.best_dual, digits))
      context.precision = Precision::exact;
    Certified now = certified(std::move(solution));
    certifying += now.seconds;
    if (context.precision == Precision::fast && at_its_end &&
        (is_rounding(now, digits) ||
         stop.kkt < rounding_margin * expected_rounding(qp, now.solution.a))) {
      context.precision = Precision::exact;
      now = finer(std::move(now));
      certifying += now.seconds;
    }
    if (!extended && at_its_end && context.precision == Precision::exact &&
        is_rounding(now, digits)) {
      extended = true;
      Certified more = certified(now.solution);
      certifying += more.seconds;
      if (!patience.ended()) now = std::move(more);
    }
    in_double.reset();
    if (context.precision == Precision::exact && !extended && judged == Judged::apart &&
        now.error.of_point.empty())
      in_double = {now.solution.a, now.f, now.error, {}, true};
    const bool enough = reached(now.certificate, stop);
    const bool better = round == 0 ||
                        now.certificate.kkt < enough_progress * best.certificate.kkt ||
                        now.certificate.gap < enough_progress * best.certificate.gap;
    const bool rounding = is_rounding(now, stop) && now.certificate.gap < 2 * now.charge;
    keep_better(best, std::move(now), stop);
    best.solution.ended = enough && at_its_end ? Ended::converged : ended;
    if (!enough && patience.ended()) best.solution.ended = *patience.ended();
    if (enough || patience.ended() || !(converged || (at_its_end && extended)) || !better ||
        rounding)
      break;
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
  if (best.solution.ended == Ended::converged && !reached(best.certificate, stop)) {
    // Without a margin there is no relative gap.
    const bool no_margin =
        is_homogeneous(qp) && Sizes(qp, best.solution.a, best.f).are_of_no_margin();
    best.solution.ended = no_margin ? Ended::unbounded : Ended::stalled;
  }
  if (best.solution.ended == Ended::stalled) best.obstacle = obstacle_of(best, stop);
  if (best.solution.ended == Ended::unbounded) best.obstacle = why_unbounded(qp);
  return best;
}

namespace {

template <class Options>
Options with_budget(Options options, const DualQp& qp, const Stop& stop, std::size_t memory_bytes) {
  options.stop = stop;
  if constexpr (requires { options.cache_bytes; })
    // A shrunk problem has a matrix of its own for a while.
    options.cache_bytes = MemoryBudget{memory_bytes}.without(2 * qp.K->bytes()).bytes;
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
  return visit_list(
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
