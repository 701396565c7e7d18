#include "maxmargin/solver/smo/smo.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/problem/matrix/cache/truncated_rows.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/patience.hpp"
#include "maxmargin/solver/smo/set/newton.hpp"
#include "maxmargin/solver/smo/shrinker.hpp"
#include "maxmargin/solver/smo/stall_watch.hpp"
#include "maxmargin/solver/smo/strategies.hpp"
#include "maxmargin/solver/smo/sum_row.hpp"

namespace maxmargin {
namespace {

// Newton steps are taken so many at a time.
constexpr double most_newton_steps = 4;
// Pairs reduce the gap by tail_factor in this share of the work so far.
constexpr double tail_share = 0.25, tail_factor = 0.3;
// The multipliers of coupled rows are updated when the violation is this share of their next
// change.
constexpr double coupling_share = 0.5;
// The violation to which a sample is solved for a warm start, as a share of the spread of its
// gradient.
constexpr double rough_share = 0.015;

/// A run, and threads that are interrupted when all has to end.
struct Hurried : Run {
  const Threads& hurried;
};

/// The outer loop: check convergence, shrink, improve by the first strategy that takes the problem.
class Outer {
 public:
  /// `rough`: a violation of this share of the spread of the gradient is small enough.
  Outer(const DualQp& qp, const Smo& options, const Hurried& run, const Start& start, double rough)
      : state_(qp, options, run, start),
        shrinker_(state_, run.hurried),
        strategies_(smo_strategies()),
        limits_(run, options.stop),
        hard_(has_hard_margin(qp)),
        homogeneous_(is_homogeneous(qp)) {
    if (!start.lambda.empty()) state_.coupling.start_from(state_.kinds, start.lambda);
    state_.coupling.measure(state_.beta);
    state_.apply_multipliers();
    if (rough > 0)
      state_.goal =
          std::max(state_.goal, rough * (start.spread > 0 ? start.spread : state_.active.spread()));
  }

  Solution solve() {
    while (!ended_) iterate();
    if (has_to_end()) return as_it_is();
    restore();
    if (*ended_ != Ended::converged && !state_.coupling.empty() && !state_.keeps_all_rows())
      continue_from(nearest_feasible(state_.qp, state_.variables()));
    Solution solution;
    solution.ended = *ended_;
    solution.iterations = state_.steps;
    solution.a = state_.variables();
    solution.lambda = state_.multipliers(state_.active.gradient(state_.run.threads));
    solution.best_dual = best_dual_;
    solution.f = std::move(state_.active.f);
    return solution;
  }

 private:
  /// The points left out would need a product that nobody waits for.
  bool has_to_end() const {
    return (*ended_ == Ended::cancelled || *ended_ == Ended::time_limit) && state_.is_shrunk() &&
           state_.coupling.empty();
  }
  Solution as_it_is() {
    Solution solution;
    solution.ended = *ended_;
    solution.iterations = state_.steps;
    solution.lambda = state_.multipliers(state_.active.gradient(state_.run.threads));
    state_.collect();
    solution.a = state_.variables();
    solution.best_dual = best_dual_;
    return solution;
  }

  void iterate() {
    const Active::Gradient gradient = state_.active.gradient(state_.run.threads);
    const double violation = gradient.violation();
    if (first_violation_ == 0) first_violation_ = std::max(violation, state_.goal);
    if (violation <= std::max(state_.goal, coupling_share * state_.coupling.pending()))
      return check_convergence(gradient);
    if (!within_limits(gradient)) return;
    if (shrinker_.shrink(gradient)) resized();
    const double decrease = first_that_takes().improve(state_, gradient);
    if (watch_.stalls(state_, decrease, violation)) {
      if (state_.is_shrunk())
        restore();
      else
        ended_ = Ended::stalled;
      shrinker_.forbid();
    }
    if (hard_ && sizes().are_unbounded()) ended_ = Ended::unbounded;
  }

  Strategy& first_that_takes() {
    return **std::ranges::find_if(strategies_, [&](auto& each) { return each->takes(state_); });
  }
  void moved() {
    for (auto& each : strategies_) each->moved();
  }
  void resized() {
    for (auto& each : strategies_) each->resized();
  }

  /// The active problem is solved to the goal; decides whether the whole one is, and by its gap.
  void check_convergence(const Active::Gradient& gradient) {
    if (state_.is_shrunk()) return restore();
    const Stop& stop = state_.options.stop;
    const bool coupled = !state_.coupling.empty();
    if (coupled && !state_.keeps_all_rows()) return couple(gradient);
    // No relative gap is larger than 2 where the primal is finite.
    if (stop.relative_gap >= 2 && !coupled && !hard_) {
      ended_ = Ended::converged;
      return;
    }
    const Evaluation evaluation = evaluate_now(state_.multipliers(gradient));
    const bool gap_counts = state_.qp.K->definite() != Definite::no;
    const double gap = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
    // Multipliers that make the gap smallest are not those that make the violation smallest.
    const bool kkt_holds = !coupled || evaluation.kkt <= stop.kkt;
    if (kkt_holds && (!gap_counts || gap <= stop.relative_gap)) {
      ended_ = Ended::converged;
      return;
    }
    if (homogeneous_ && sizes().are_of_no_margin()) {
      ended_ = Ended::unbounded;
      return;
    }
    state_.goal *= tail_factor;
    const double tail = std::log(stop.relative_gap / gap) / std::log(tail_factor);
    newton(gap_counts && std::isfinite(tail) ? tail_share * tail * state_.work : 0);
    // The gradient's rounding error exceeds the goal.
    if (state_.goal < 1e-15 * first_violation_) ended_ = Ended::stalled;
  }

  /// Newton steps of all free variables, close to the optimum and where these are not too many.
  /// `tail`: the work that they would save.
  bool newton(double tail) {
    Active& active = state_.active;
    std::vector<Index> free;
    for (std::size_t v = 0; v < active.size(); ++v)
      if (active.is_free(v)) free.push_back(static_cast<Index>(v));
    const std::size_t bytes = free.size() * free.size() * (sizeof(float) + sizeof(double));
    if (free.size() < 2 || bytes > state_.options.cache_bytes) return false;
    // By the cost model, not by the clock: the same input takes the same path.
    const double cost = state_.run.costs.newton(free.size());
    const double worth = std::max(tail, state_.run.costs.pairs.newton_share * state_.work);
    if (cost > worth) return false;
    const int steps = static_cast<int>(CostModel::steps_within(worth, cost, most_newton_steps));
    state_.work += cost * steps;
    const NewtonMove move = newton_move(active, state_.coupling, free, steps, state_.run);
    if (move.variables.empty()) return false;
    state_.run.note(Way::newton);
    state_.coupling.shift(move.shift);
    std::vector<Index> points;
    for (std::size_t k = 0; k < move.variables.size(); ++k) {
      const Index v = move.variables[k];
      const double wanted = active.beta[v] + move.change[k];
      // What reaches a bound lies on it exactly.
      active.beta[v] = std::clamp(wanted, active.lower[v], active.upper[v]);
      points.push_back(active.point[v]);
    }
    active.K->add_product(points, move.change, active.f, state_.run.threads);
    if (!state_.coupling.empty()) {
      state_.coupling.measure(active.beta);
      state_.apply_multipliers();
    }
    moved();
    return true;
  }

  bool within_limits(const Active::Gradient& gradient) {
    if (state_.steps >= state_.options.stop.iterations) ended_ = Ended::iteration_limit;
    if (!limits_.allow_by([&] { return progress(gradient); })) ended_ = limits_.stopped();
    return !ended_;
  }

  Progress progress(const Active::Gradient& gradient) {
    Progress progress;
    progress.iteration = state_.steps;
    progress.kkt = gradient.violation();
    progress.active = state_.active.size();
    progress.size = state_.qp.size();
    if (!state_.is_shrunk()) {
      const Evaluation evaluation = evaluate_now(state_.multipliers(gradient));
      last_gap_ = relative_gap(best_primal_, evaluation.dual);
    }
    progress.primal = best_primal_;
    progress.dual = best_dual_;
    progress.relative_gap = last_gap_;
    // Violations decrease about geometrically.
    progress.done = std::clamp(std::log(first_violation_ / gradient.violation()) /
                                   std::max(1e-9, std::log(first_violation_ / state_.goal)),
                               0.0, 1.0);
    return progress;
  }

  Evaluation evaluate_now(const std::vector<double>& lambda) {
    state_.collect();
    Evaluation evaluation = evaluate(state_.qp, state_.variables(), state_.active.f, lambda);
    best_primal_ = std::min(best_primal_, evaluation.primal);
    best_dual_ = std::max(best_dual_, evaluation.dual);
    return evaluation;
  }

  /// The problem is solved well enough for the current multipliers of the coupled rows. Where the
  /// rows almost hold, goes to the nearest feasible point; otherwise updates the multipliers.
  void couple(const Active::Gradient& gradient) {
    if (!within_limits(gradient)) return;
    if (state_.coupling.is_stuck()) {
      ended_ = Ended::stalled;
      return;
    }
    // Moves as few variables off their bounds as possible: each would take steps to return.
    if (gradient.violation() <= state_.goal &&
        state_.coupling.largest_residual() * state_.largest_diagonal() <= state_.goal &&
        continue_from(gently_feasible(state_.qp, state_.variables(), state_.active.slopes(gradient),
                                      state_.goal / 10, state_.goal)))
      return;
    if (newton(0)) return;
    state_.coupling.update();
    state_.apply_multipliers();
  }

  /// Continues from a feasible point; false if there is none.
  bool continue_from(const std::optional<std::vector<double>>& found) {
    if (!found) return false;
    const std::vector<double> before = state_.point_coefficients();
    for (std::size_t v = 0; v < state_.qp.size(); ++v)
      state_.beta[v] = state_.qp.block[v].sign * (*found)[v];
    const std::vector<double> now = state_.point_coefficients();
    std::vector<Index> points;
    std::vector<double> change;
    for (std::size_t p = 0; p < now.size(); ++p)
      if (now[p] != before[p]) {
        points.push_back(static_cast<Index>(p));
        change.push_back(now[p] - before[p]);
      }
    state_.qp.K->add_product(points, change, state_.active.f, state_.run.threads);
    state_.active.beta = state_.beta;
    state_.coupling.update();
    state_.coupling.measure(state_.beta);
    state_.apply_multipliers();
    moved();
    return true;
  }

  void restore() {
    state_.collect();
    if (!state_.is_shrunk()) return;
    shrinker_.restore();
    resized();
  }

  Sizes sizes() const {
    const Active& active = state_.active;
    Sizes sizes(active.beta, active.point, active.f, active.K->diagonal());
    // As long as the coupled rows do not hold, their penalty is a part of the objective.
    for (const double each : state_.coupling.residual())
      sizes.norm += state_.coupling.penalty() * each * each;
    return sizes;
  }

  SmoState state_;
  Shrinker shrinker_;
  std::vector<std::unique_ptr<Strategy>> strategies_;
  StallWatch watch_;
  Limits limits_;
  std::optional<Ended> ended_;
  bool hard_;         // some variable has no bound and no curvature
  bool homogeneous_;  // the objective has no linear terms
  double first_violation_ = 0;
  double best_primal_ = infinity, best_dual_ = -infinity, last_gap_ = infinity;
};

/// Solves a problem, with a row for the sum of those variables that stand in no pair row.
Solution solved(const DualQp& qp, const Smo& options, Hurried run, Start start, double rough = 0) {
  const RowKinds kinds = sort_rows(qp);
  if (covers_all(kinds)) return Outer(qp, options, run, start, rough).solve();
  const SumRow sum(qp, kinds.in_pair_row);
  start.a = sum.extended(std::move(start.a));
  if (!start.lambda.empty()) start.lambda.push_back(0);
  if (!run.start_f.empty()) run.start_f.push_back(0);
  return SumRow::reduced(Outer(sum.qp, options, run, start, rough).solve());
}

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const Smo&) { return sort_rows(qp).refusal; }

namespace {

Solution run_all(const DualQp& qp, const Smo& options, const Hurried& run) {
  // Enough points start from the solution of a sample, see cascade.hpp. With narrow kernels a point
  // has other neighbours in a sample than in the whole, whose start would be useless.
  if (!run.start.empty() || qp.K->size() < run.costs.pairs.cascade_from ||
      stores_truncated_rows(*qp.K))
    return solved(qp, options, run, {run.start, {}});
  const Stopwatch clock;
  const auto solve_part = [&](const DualQp& part, const Start& from) {
    Smo rough = options;
    rough.stop.relative_gap = infinity;
    const Run context{run.watched_by(observer_of_part(run.observer, qp.size())),
                      {},
                      Precision::fast,
                      run.seconds_before + clock.seconds()};
    return solved(part, rough, {context, run.hurried}, from, rough_share);
  };
  const Start start = cascade_start(qp, run.on(run.hurried), solve_part);
  if (!start.a.empty()) run.note(Way::part_first);
  Hurried context = run;
  context.seconds_before += clock.seconds();
  Solution solution = solved(qp, options, context, start);
  solution.iterations += start.iterations;
  return solution;
}

}  // namespace

Solution run(const DualQp& whole, const Smo& options, const Run& run) {
  DualQp qp = whole;
  qp.K = cache_truncated_rows(qp.K, options.cache_bytes, run.costs);
  Patience patience(run.observer, std::min(run.seconds, options.stop.seconds) - run.seconds_before);
  const Threads hurried = run.threads.interrupted_by([&patience] { return patience.is_over(); });
  try {
    return run_all(qp, options, {run, hurried});
  } catch (const Threads::Interrupted&) {
    // Not even f at the start was known.
    Solution solution;
    solution.ended = *patience.ended();
    solution.a.assign(qp.size(), 0.0);
    if (!run.start.empty())
      solution.a = run.start;
    else if (auto found = nearest_feasible(qp, solution.a))
      solution.a = *std::move(found);
    solution.lambda.assign(qp.A.size(), 0.0);
    return solution;
  }
}

}  // namespace maxmargin
