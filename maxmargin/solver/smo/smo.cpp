#include "maxmargin/solver/smo/smo.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/problem/matrix/near_rows.hpp"
#include "maxmargin/problem/matrix/row_cache.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/cascade.hpp"
#include "maxmargin/solver/smo/first_point.hpp"
#include "maxmargin/solver/smo/pairs/kept_pairs.hpp"
#include "maxmargin/solver/smo/pairs/near_pairs.hpp"
#include "maxmargin/solver/smo/set/newton.hpp"
#include "maxmargin/solver/smo/set/set_solver.hpp"
#include "maxmargin/solver/smo/set/set_values.hpp"
#include "maxmargin/solver/smo/sum_row.hpp"

namespace maxmargin {
namespace {

constexpr double seconds_between_reports = 0.1;
// Within a working set this share of the violation is left: solving it further wastes steps that
// the next set would undo. Where rows are cheap, more may be left.
constexpr double inner_share = 0.1;
constexpr double cheap_inner_share = 0.2;
// Outer iterations between two looks at what could be left out, and how much it must be.
constexpr std::size_t iterations_between_shrinks = 10;
constexpr double worth_shrinking = 0.7;
// Values that are computed about as fast as memory for them is had.
constexpr double cheap_value = 1.5;  // nanoseconds
// Values that are computed about as fast as they are read.
constexpr double cheapest_value = 0.5;  // nanoseconds
// Newton steps are taken so many at a time, and this share of the work done so far. A step of a
// pair takes so many nanoseconds for each variable of the set.
constexpr double most_newton_steps = 4;
constexpr double newton_share = 0.2;
// Of the work so far, what it takes pairs to come to a gap that is smaller by that factor.
constexpr double tail_share = 0.25, tail_factor = 0.3;
constexpr double step_cost = 1;
// Where rows are mostly zero, so many pairs for each variable before working sets take over.
constexpr std::size_t most_pair_steps = 8;
// Sets take rows again and again when they have taken so many for each that is kept.
constexpr std::size_t often = 5;
// So many times all variables could have had their turn, and there was no progress: stalled.
constexpr std::size_t patience = 20;
// Iterations between two looks at how far levels can be trusted.
constexpr std::size_t iterations_between_looks = 16;
// The multipliers of coupled rows move on when the violation is this share of what they move by.
constexpr double coupling_share = 0.5;
// Problems of fewer points are solved about as fast without the solution of a part of them.
constexpr std::size_t least_cascade = 4000;
// To what share of the spread of its levels a part is solved.
constexpr double rough_share = 0.015;

class Outer {
 public:
  /// `rough`: a violation of this share of the spread of the levels is small enough.
  Outer(const DualQp& qp, const Smo& options, const Run& run, const Start& start, double rough = 0)
      : qp_(qp),
        options_(options),
        run_(run),
        kinds_(sort_rows(qp)),
        coupling_(qp, kinds_),
        active_(qp, kinds_, first_point(qp, kinds_, start.a)),
        set_size_(qp, options.cache_bytes, static_cast<std::size_t>(options.working_set)),
        cache_(qp.K, options.cache_bytes, set_size_.largest),
        beta_(active_.beta),
        goal_(options.stop.kkt),
        may_shrink_(options.shrinking) {
    full_coefficients_ = point_coefficients();
    full_f_ = run.start_f;
    if (full_f_.empty()) {
      full_f_.resize(qp.K->size());
      qp.K->multiply(full_coefficients_, full_f_, run.precision, run.threads);
    }
    active_.f = full_f_;
    change_.assign(qp.K->size(), 0.0);
    if (!start.lambda.empty()) coupling_.start_from(kinds_, start.lambda);
    coupling_.measure(beta_);
    pull();
    if (rough > 0)
      goal_ = std::max(goal_, rough * (start.spread > 0 ? start.spread : active_.spread()));
    hard_ = has_hard_margin(qp);
    homogeneous_ = is_homogeneous(qp);
  }

  Solution solve() {
    while (!ended_) iterate();
    restore();
    if (*ended_ != Ended::converged && !coupling_.empty() && !keeps_all_rows())
      go_to(nearest_feasible(qp_, variables()));
    Solution solution;
    solution.ended = *ended_;
    solution.iterations = steps_;
    solution.a = variables();
    solution.lambda = multipliers(active_.levels(run_.threads));
    solution.best_primal = best_primal_;
    solution.best_dual = best_dual_;
    solution.f = std::move(active_.f);
    return solution;
  }

 private:
  void iterate() {
    const Active::Levels levels = active_.levels(run_.threads);
    if (first_violation_ == 0) first_violation_ = std::max(levels.violation(), goal_);
    if (levels.violation() <= std::max(goal_, coupling_share * coupling_.pending()))
      return settle(levels);
    if (!within_limits(levels)) return;
    if (may_shrink_ && shrinking_pays() && ++since_shrink_ >= iterations_between_shrinks)
      shrink(levels);
    const double decrease = pairs_pay()        ? improve_by_pairs()
                            : kept_pairs_pay() ? improve_by_kept_pairs()
                                               : improve(working_set(levels), levels);
    watch(decrease, levels.violation());
    objective_ -= decrease;
    if (hard_ && sizes().are_unbounded()) ended_ = Ended::unbounded;
  }

  /// Progress is a decrease that a double can show beside the objective, or, close to the optimum,
  /// a smaller violation than ever. A run without either has stalled. A violation that is a matter
  /// of rounding may promise decreases for ever: then nobody waits as long.
  void watch(double decrease, double violation) {
    if (watched_++ % iterations_between_looks == 0) rounding_ = rounding_of_levels();
    const bool is_rounding = violation < rounding_;
    idle_ += is_rounding ? patience : 1;
    if ((decrease > 1e-15 * std::abs(objective_) && !is_rounding) ||
        violation < 0.99 * least_violation_) {
      idle_ = 0;
    } else if (decrease == 0 || idle_ > patience * (active_.size() / set_size_.now + 50)) {
      if (is_shrunk())
        restore();
      else
        ended_ = Ended::stalled;
      may_shrink_ = false;  // or the same part would stall again
      idle_ = 0;
    }
    least_violation_ = std::min(least_violation_, violation);
  }

  /// The active problem is solved to the goal: is the whole one, and is the gap small enough?
  void settle(const Active::Levels& levels) {
    if (is_shrunk()) return restore();
    if (!coupling_.empty() && !keeps_all_rows()) return couple(levels);
    // No relative gap is larger than 2 where the primal is finite.
    if (options_.stop.relative_gap >= 2 && coupling_.empty() && !hard_) {
      ended_ = Ended::converged;
      return;
    }
    const Evaluation evaluation = evaluate_now(multipliers(levels));
    const bool gap_counts = qp_.K->definite() != Definite::no;
    const double gap = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
    // Multipliers that make the gap smallest are not those that make the violation smallest.
    const bool settled = coupling_.empty() || evaluation.kkt <= options_.stop.kkt;
    if (settled && (!gap_counts || gap <= options_.stop.relative_gap)) {
      ended_ = Ended::converged;
      return;
    }
    if (homogeneous_ && sizes().are_of_no_margin()) {
      ended_ = Ended::unbounded;
      return;
    }
    goal_ *= tail_factor;
    const double tail = std::log(options_.stop.relative_gap / gap) / std::log(tail_factor);
    newton(gap_counts && std::isfinite(tail) ? tail_share * tail * work_ : 0);
    // Below the rounding of the levels themselves there is nothing to gain.
    if (goal_ < 1e-15 * first_violation_) ended_ = Ended::stalled;
  }

  /// Close to the optimum: all free variables at once, where there are not too many.
  /// `tail`: the work that it would spare.
  bool newton(double tail) {
    std::vector<Index> free;
    for (std::size_t v = 0; v < active_.size(); ++v)
      if (active_.is_free(v)) free.push_back(static_cast<Index>(v));
    const std::size_t bytes = free.size() * free.size() * (sizeof(float) + sizeof(double));
    if (free.size() < 2 || bytes > options_.cache_bytes) return false;
    // Not by the clock: the same input takes the same path.
    const double cost = newton_cost(free.size());
    const double worth = std::max(tail, newton_share * work_);
    if (cost > worth) return false;
    const int steps = static_cast<int>(std::min(worth / cost, most_newton_steps));
    work_ += cost * steps;
    const NewtonMove move = newton_move(active_, coupling_, free, steps, run_.threads);
    if (move.variables.empty()) return false;
    coupling_.shift(move.shift);
    std::vector<Index> points;
    for (std::size_t k = 0; k < move.variables.size(); ++k) {
      const Index v = move.variables[k];
      const double moved = active_.beta[v] + move.change[k];
      // What has come to a bound lies on it exactly.
      active_.beta[v] = std::clamp(moved, active_.lower[v], active_.upper[v]);
      points.push_back(active_.point[v]);
    }
    active_.K->add_product(points, move.change, active_.f, run_.threads);
    if (!coupling_.empty()) {
      coupling_.measure(active_.beta);
      pull();
    }
    chooser_.forget();
    return true;
  }

  bool within_limits(const Active::Levels& levels) {
    const double seconds = run_.seconds_before + clock_.seconds();
    if (steps_ >= options_.stop.iterations) ended_ = Ended::iteration_limit;
    if (seconds >= options_.stop.seconds) ended_ = Ended::time_limit;
    if (!ended_ && run_.observer && seconds - last_report_ >= seconds_between_reports) {
      report(levels, seconds);
      // A large problem is evaluated less often: reports take a twentieth of the time at most.
      const double now = run_.seconds_before + clock_.seconds();
      last_report_ = now + std::max(0.0, 20 * (now - seconds) - seconds_between_reports);
    }
    return !ended_;
  }

  void report(const Active::Levels& levels, double seconds) {
    Progress progress;
    progress.phase = "train";
    progress.iteration = steps_;
    progress.kkt = levels.violation();
    progress.active = active_.size();
    progress.size = qp_.size();
    progress.seconds = seconds;
    if (!is_shrunk()) {
      const Evaluation evaluation = evaluate_now(multipliers(levels));
      last_gap_ = relative_gap(best_primal_, evaluation.dual);
    }
    progress.primal = best_primal_;
    progress.dual = best_dual_;
    progress.relative_gap = last_gap_;
    // Violations fall about geometrically.
    progress.done = std::clamp(std::log(first_violation_ / levels.violation()) /
                                   std::max(1e-9, std::log(first_violation_ / goal_)),
                               0.0, 1.0);
    switch (run_.observer(progress)) {
      case Control::proceed:
        break;
      case Control::finish:
        ended_ = Ended::time_limit;
        break;
      case Control::cancel:
        ended_ = Ended::cancelled;
        break;
    }
  }

  Evaluation evaluate_now(const std::vector<double>& lambda) {
    keep_beta();
    Evaluation evaluation = evaluate(qp_, variables(), active_.f, lambda);
    best_primal_ = std::min(best_primal_, evaluation.primal);
    best_dual_ = std::max(best_dual_, evaluation.dual);
    return evaluation;
  }

  bool pairs_pay() const {
    return pair_steps_ < most_pair_steps * qp_.size() && NearPairs::can_take(active_, coupling_);
  }

  /// Where rows are expensive and kept, and sets of few variables take them again and again.
  bool kept_pairs_pay() {
    if (takes_kept_pairs_) return *takes_kept_pairs_;
    if (set_size_.now > set_size_.least || changed_ <= often * cache_.size() ||
        active_.K->value_cost() < cheap_value)
      return false;
    takes_kept_pairs_ = KeptPairs::can_take(active_, coupling_, cache_);
    return *takes_kept_pairs_;
  }

  double improve_by_kept_pairs() {
    KeptPairs pairs(active_, cache_);
    const KeptPairs::Result result = pairs.improve(goal_, KeptPairs::at_once, run_.threads);
    steps_ += result.steps;
    work_ += result.work;
    chooser_.forget();
    return result.decrease;
  }

  double improve_by_pairs() {
    NearPairs pairs(active_);
    const NearPairs::Result result = pairs.improve(goal_, NearPairs::at_once, run_.threads);
    steps_ += result.steps;
    pair_steps_ += result.lacks_room ? most_pair_steps * qp_.size() : result.steps;
    work_ += NearPairs::step_cost * static_cast<double>(result.steps) +
             active_.K->value_cost() * static_cast<double>(result.computed) *
                 static_cast<double>(active_.f.size());
    return result.decrease;
  }

  /// A working set, in the order of the equality rows and then of the points.
  std::vector<Index> working_set(const Active::Levels& levels) {
    std::vector<Index> set = chooser_.choose(active_, levels, set_size_.now, run_.threads);
    std::vector<std::pair<std::uint64_t, Index>> order(set.size());
    for (std::size_t k = 0; k < set.size(); ++k)
      order[k] = {std::uint64_t{active_.row[set[k]]} << 32 | active_.point[set[k]], set[k]};
    std::sort(order.begin(), order.end());
    for (std::size_t k = 0; k < set.size(); ++k) set[k] = order[k].second;
    return set;
  }

  /// Solves the problem of the working set and carries the change over; returns the decrease. Whole
  /// rows are needed only of the points that changed.
  double improve(const std::vector<Index>& set, const Active::Levels& levels) {
    const SetKernel& kernel = set_values_.fill(active_, coupling_, set, cache_, run_.threads);
    Active part(active_, set, set_values_.numbers());
    // The multipliers of coupled rows need better answers.
    const bool cheap = active_.K->value_cost() < cheap_value && coupling_.empty();
    const double share = cheap ? cheap_inner_share : inner_share;
    const double target = std::max(share * levels.violation(), goal_ / 2);
    const std::size_t steps = set_solver_.solve(part, kernel, target, run_.threads);
    steps_ += steps;

    double decrease = 0;
    std::size_t moved_variables = 0;
    std::vector<Index> changed;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const double moved = part.beta[k] - active_.beta[set[k]];
      if (moved == 0) continue;
      decrease += moved * (active_.level(set[k]) + part.level(k)) / 2;
      active_.beta[set[k]] = part.beta[k];
      change_[active_.point[set[k]]] += moved;
      coupling_.move(active_.id[set[k]], moved);
      changed.push_back(active_.point[set[k]]);
      ++moved_variables;
    }
    pull();
    set_size_.adapt(set.size(), moved_variables, steps);
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    changed_ += changed.size();
    std::vector<double> coefficients(changed.size());
    for (std::size_t k = 0; k < changed.size(); ++k)
      coefficients[k] = std::exchange(change_[changed[k]], 0.0);
    cache_.add(changed, coefficients, wishes(set, changed), active_.f, run_.threads);
    work_ += step_cost * static_cast<double>(steps) * static_cast<double>(set.size()) +
             active_.K->value_cost() * static_cast<double>(changed.size()) *
                 static_cast<double>(active_.f.size());
    return decrease;
  }

  /// Rows of points that have come to a bound are mostly not needed again; if they are, and cheap,
  /// they are computed again as fast as memory for them is had.
  RowCache::Wishes wishes(const std::vector<Index>& set, const std::vector<Index>& changed) const {
    std::vector<Index> free;
    for (const Index v : set)
      if (active_.is_free(v)) free.push_back(active_.point[v]);
    std::sort(free.begin(), free.end());
    const bool cheap = active_.K->value_cost() < cheap_value;
    const bool cheapest = active_.K->value_cost() < cheapest_value;
    RowCache::Wishes wishes;
    wishes.keep.resize(changed.size());
    std::size_t kept = 0;
    for (std::size_t k = 0; k < changed.size(); ++k) {
      wishes.keep[k] =
          !cheap || (!cheapest && std::binary_search(free.begin(), free.end(), changed[k]));
      kept += wishes.keep[k];
    }
    if (cache_.lacks_room_for(kept)) wishes.precious = precious();
    return wishes;
  }

  std::vector<bool> precious() const {
    std::vector<bool> result(active_.point_id.size(), false);
    for (std::size_t v = 0; v < active_.size(); ++v)
      if (active_.is_free(v)) result[active_.point[v]] = true;
    return result;
  }

  /// The multipliers of all equality rows: that of a pair row is in the middle of its levels.
  std::vector<double> multipliers(const Active::Levels& levels) const {
    std::vector<double> pair;
    for (const Active::Range& range : levels.row) pair.push_back(range.middle());
    return coupling_.multipliers(kinds_, pair);
  }

  /// `a` from beta_.
  std::vector<double> variables() const {
    std::vector<double> a(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) a[v] = qp_.block[v].sign * beta_[v];
    return a;
  }

  /// The coupled rows pull at the variables by a linear term.
  void pull() {
    if (coupling_.empty()) return;
    run_.threads.split(active_.size(), 8192, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v) {
        const Block& block = qp_.block[active_.id[v]];
        active_.linear[v] = block.sign * block.linear + coupling_.slope(active_.id[v]);
      }
    });
  }

  bool keeps_all_rows() {
    keep_beta();
    return equality_defect(qp_, variables()) <= equality_rounding;
  }

  /// The problem is solved well enough for the present multipliers of the coupled rows. Where the
  /// rows almost hold, the nearest point does where they hold; else the multipliers move on.
  void couple(const Active::Levels& levels) {
    if (!within_limits(levels)) return;
    if (coupling_.is_stuck()) {
      ended_ = Ended::stalled;
      return;
    }
    // Variables that do not belong between their bounds would take many steps to come back.
    if (levels.violation() <= goal_ && coupling_.largest_residual() * largest_diagonal() <= goal_ &&
        go_to(gently_feasible(qp_, variables(), active_.slopes(levels), goal_ / 10, goal_)))
      return;
    if (newton(0)) return;
    coupling_.update();
    pull();
  }

  /// Goes to a point where all equality rows hold; false if there is none.
  bool go_to(const std::optional<std::vector<double>>& found) {
    if (!found) return false;
    const std::vector<double> before = point_coefficients();
    for (std::size_t v = 0; v < qp_.size(); ++v) beta_[v] = qp_.block[v].sign * (*found)[v];
    const std::vector<double> now = point_coefficients();
    std::vector<Index> points;
    std::vector<double> change;
    for (std::size_t p = 0; p < now.size(); ++p)
      if (now[p] != before[p]) {
        points.push_back(static_cast<Index>(p));
        change.push_back(now[p] - before[p]);
      }
    qp_.K->add_product(points, change, active_.f, run_.threads);
    active_.beta = beta_;
    coupling_.update();
    coupling_.measure(beta_);
    pull();
    chooser_.forget();
    return true;
  }

  /// What the errors of kernel values, which are of both signs, make of a level.
  double rounding_of_levels() const {
    double squares = 0;
    for (const double beta : active_.beta) squares += beta * beta;
    return active_.K->deviation() * largest_diagonal() * std::sqrt(squares);
  }

  double largest_diagonal() const {
    const auto diagonal = qp_.K->diagonal();
    return *std::max_element(diagonal.begin(), diagonal.end());
  }

  bool is_shrunk() const { return active_.size() < qp_.size(); }

  /// In the end f is to be had again where it was left out, from as many kernel values as the whole
  /// run takes. That pays where values are cheap and rows come again and again, not where rows are
  /// expensive and kept.
  bool shrinking_pays() const {
    return !stores_truncated_rows(*active_.K) &&
           (active_.K->value_cost() < cheap_value ||
            (cache_.capacity() < active_.f.size() && cache_.lacks_room_for(set_size_.largest)));
  }

  void shrink(const Active::Levels& levels) {
    since_shrink_ = 0;
    const std::vector<bool> settled = active_.settled(levels, levels.violation());
    const auto leaving = std::count(settled.begin(), settled.end(), true);
    if (static_cast<double>(leaving) < (1 - worth_shrinking) * static_cast<double>(active_.size()))
      return;
    keep_beta();
    if (!is_shrunk()) keep_f();
    const std::vector<Index> points = active_.leave_out(settled);
    cache_.restrict_to(active_.K, points, run_.threads);
    takes_kept_pairs_.reset();
    chooser_.forget();
  }

  void keep_beta() {
    for (std::size_t v = 0; v < active_.size(); ++v) beta_[active_.id[v]] = active_.beta[v];
  }
  void keep_f() {
    full_f_ = active_.f;
    full_coefficients_ = point_coefficients();
  }

  /// The coefficient of each point of the whole problem.
  std::vector<double> point_coefficients() const {
    std::vector<double> sum(qp_.K->size(), 0.0);
    for (std::size_t v = 0; v < qp_.size(); ++v) sum[qp_.row[v]] += beta_[v];
    return sum;
  }

  /// Back to the whole problem: f where it was left out follows from what has changed since.
  void restore() {
    keep_beta();
    if (!is_shrunk()) return;
    std::vector<double> now = point_coefficients(), difference(now.size()), product(now.size());
    for (std::size_t p = 0; p < now.size(); ++p) difference[p] = now[p] - full_coefficients_[p];
    qp_.K->multiply(difference, product, Precision::fast, run_.threads);
    for (std::size_t p = 0; p < now.size(); ++p) full_f_[p] += product[p];
    full_coefficients_ = std::move(now);
    active_ = Active(qp_, kinds_, variables());
    active_.f = full_f_;
    coupling_.measure(beta_);
    pull();
    cache_ = RowCache(qp_.K, options_.cache_bytes, set_size_.largest);
    takes_kept_pairs_.reset();  // there may be no room for all of these rows
    chooser_.forget();
  }

  Sizes sizes() const {
    Sizes sizes(active_.beta, active_.point, active_.f, active_.K->diagonal());
    // What keeps the coupled rows belongs to the objective as long as they do not hold.
    for (const double each : coupling_.residual()) sizes.norm += coupling_.penalty() * each * each;
    return sizes;
  }

  const DualQp& qp_;
  const Smo& options_;
  const Run& run_;
  Stopwatch clock_;
  RowKinds kinds_;
  CoupledRows coupling_;
  Active active_;
  SetSize set_size_;
  RowCache cache_;
  std::vector<double> beta_;  // of all variables; the active ones' at last keeping
  std::vector<double> full_f_, full_coefficients_;
  SetChooser chooser_;
  SetSolver set_solver_;
  SetValues set_values_;
  std::vector<double> change_;  // of each point's coefficient, zero between iterations
  std::optional<Ended> ended_;
  bool hard_;         // some variable has no bound and no curvature
  bool homogeneous_;  // no variable has a share of its own in the objective
  double goal_;
  double first_violation_ = 0;
  double least_violation_ = infinity;
  double objective_ = 0;
  double best_primal_ = infinity, best_dual_ = -infinity, last_gap_ = infinity;
  double last_report_ = 0;
  std::size_t steps_ = 0;
  std::size_t pair_steps_ = 0;  // among all variables
  double work_ = 0;             // an estimate, in nanoseconds of one core
  std::size_t changed_ = 0;     // rows that working sets took
  std::optional<bool> takes_kept_pairs_;
  bool may_shrink_;
  std::size_t since_shrink_ = 0;
  std::size_t watched_ = 0, idle_ = 0;
  double rounding_ = 0;  // of levels, at the last look
};

/// Solves a problem, with a row for the sum of those variables that stand in no pair row.
Solution solved(const DualQp& qp, const Smo& options, Run run, Start start, double rough = 0) {
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

Solution run(const DualQp& whole, const Smo& options, const Run& run) {
  DualQp qp = whole;
  qp.K = keep_near_rows(qp.K, options.cache_bytes);
  // Where rows are mostly zero a part has other neighbours than the whole, and says nothing.
  if (!run.start.empty() || qp.K->size() < least_cascade || stores_truncated_rows(*qp.K))
    return solved(qp, options, run, {run.start, {}});
  const Stopwatch clock;
  const Start start = cascade_start(qp, run.threads, [&](const DualQp& part, const Start& from) {
    Smo rough = options;
    rough.stop.relative_gap = infinity;
    const Run context{run.threads,
                      observer_of_part(run.observer, qp.size()),
                      {},
                      Precision::fast,
                      run.seconds_before + clock.seconds()};
    return solved(part, rough, context, from, rough_share);
  });
  Run context = run;
  context.seconds_before += clock.seconds();
  Solution solution = solved(qp, options, context, start);
  solution.iterations += start.iterations;
  return solution;
}

}  // namespace maxmargin
