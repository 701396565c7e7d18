#include "maxmargin/solver/smo/smo.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/row_cache.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/inner.hpp"

namespace maxmargin {
namespace {

constexpr double seconds_between_reports = 0.1;
// Within a working set this share of the violation is left: solving it further wastes steps that
// the next set would undo.
constexpr double inner_share = 0.1;
constexpr std::size_t steps_per_variable = 100;
// Outer iterations between two looks at what could be left out, and how much it must be.
constexpr std::size_t iterations_between_shrinks = 10;
constexpr double worth_shrinking = 0.7;
constexpr std::size_t columns_per_task = 4096;
constexpr double gathering_cost = 3;  // nanoseconds
// So many times all variables could have had their turn, and there was no progress: stalled.
constexpr std::size_t patience = 20;
// A hard margin below this share of the data's radius is none.
constexpr double least_margin = 1e-6;

double entry_scale(const DualQp& qp) { return qp.A[0][0] * qp.block[0].sign; }

/// The variables in a working set: no more than there is room for rows in the cache.
std::size_t set_size(const DualQp& qp, const Smo& options) {
  const std::size_t row_bytes = qp.K->size() * sizeof(float) + 64;
  return std::clamp<std::size_t>(options.cache_bytes / row_bytes, 2,
                                 static_cast<std::size_t>(options.working_set));
}

/// A point within the bounds with A a = d: zero where possible, then from the first variable on.
std::vector<double> feasible_start(const DualQp& qp) {
  std::vector<double> a(qp.size());
  double rest = qp.d[0];
  for (std::size_t v = 0; v < qp.size(); ++v) {
    a[v] = std::clamp(0.0, qp.block[v].lower, qp.block[v].upper);
    rest -= qp.A[0][v] * a[v];
  }
  for (std::size_t v = 0; v < qp.size() && rest != 0; ++v) {
    const double weight = qp.A[0][v];
    const double moved = std::clamp(a[v] + rest / weight, qp.block[v].lower, qp.block[v].upper);
    rest = std::abs(moved - (a[v] + rest / weight)) == 0 ? 0 : rest - weight * (moved - a[v]);
    a[v] = moved;
  }
  return a;
}

class Outer {
 public:
  Outer(const DualQp& qp, const Smo& options, const Run& run)
      : qp_(qp),
        options_(options),
        run_(run),
        active_(qp, run.start.empty() ? feasible_start(qp) : run.start),
        set_size_(set_size(qp, options)),
        cache_(qp.K, options.cache_bytes, set_size_),
        beta_(active_.beta),
        goal_(options.stop.kkt) {
    full_coefficients_ = point_coefficients();
    full_f_.resize(qp.K->size());
    qp.K->multiply(full_coefficients_, full_f_, run.precision, run.threads);
    active_.f = full_f_;
    change_.assign(qp.K->size(), 0.0);
    hard_ = std::any_of(qp.block.begin(), qp.block.end(), [](const Block& block) {
      return block.curvature == 0 && (std::isinf(block.upper) || std::isinf(block.lower));
    });
  }

  Solution solve() {
    while (!ended_) iterate();
    restore();
    Solution solution;
    solution.ended = *ended_;
    solution.iterations = steps_;
    solution.a.resize(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) solution.a[v] = qp_.block[v].sign * beta_[v];
    const Active::Levels levels = active_.levels();
    solution.lambda = {(levels.highest + levels.lowest) / 2 / entry_scale(qp_)};
    if (!std::isfinite(solution.lambda[0])) solution.lambda[0] = 0;
    solution.best_primal = best_primal_;
    solution.best_dual = best_dual_;
    return solution;
  }

 private:
  void iterate() {
    const Active::Levels levels = active_.levels();
    if (first_violation_ == 0) first_violation_ = std::max(levels.violation(), goal_);
    if (levels.violation() <= goal_) return settle();
    if (!within_limits(levels)) return;
    if (options_.shrinking && ++since_shrink_ >= iterations_between_shrinks) shrink(levels);
    const std::vector<Index> set = working_set(levels);
    const double decrease = improve(set, levels);
    watch(decrease, levels.violation());
    objective_ -= decrease;
    if (hard_ && is_unbounded()) ended_ = Ended::unbounded;
  }

  /// Progress is a decrease that a double can show beside the objective, or, close to the optimum,
  /// a smaller violation than ever. A run without either has stalled.
  void watch(double decrease, double violation) {
    if (decrease > 1e-15 * std::abs(objective_) || violation < 0.99 * least_violation_) {
      idle_ = 0;
    } else if (decrease == 0 || ++idle_ > patience * (active_.size() / set_size_ + 50)) {
      if (is_shrunk())
        restore();
      else
        ended_ = Ended::stalled;
      idle_ = 0;
    }
    least_violation_ = std::min(least_violation_, violation);
  }

  /// The active problem is solved to the goal: is the whole one, and is the gap small enough?
  void settle() {
    if (is_shrunk()) return restore();
    const Evaluation evaluation = evaluate_now();
    const bool gap_counts = qp_.K->definite() != Definite::no;
    const double gap = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
    if (!gap_counts || gap <= options_.stop.relative_gap) {
      ended_ = Ended::converged;
      return;
    }
    goal_ *= 0.3;
    // Below the rounding of the levels themselves there is nothing to gain.
    if (goal_ < 1e-15 * first_violation_) ended_ = Ended::stalled;
  }

  bool within_limits(const Active::Levels& levels) {
    const double seconds = run_.seconds_before + clock_.seconds();
    if (steps_ >= options_.stop.iterations) ended_ = Ended::iteration_limit;
    if (seconds >= options_.stop.seconds) ended_ = Ended::time_limit;
    if (!ended_ && run_.observer && seconds - last_report_ >= seconds_between_reports) {
      last_report_ = seconds;
      report(levels, seconds);
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
      const Evaluation evaluation = evaluate_now();
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

  Evaluation evaluate_now() {
    keep_beta();
    std::vector<double> a(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) a[v] = qp_.block[v].sign * beta_[v];
    Evaluation evaluation = evaluate(qp_, a, active_.f, {});
    best_primal_ = std::min(best_primal_, evaluation.primal);
    best_dual_ = std::max(best_dual_, evaluation.dual);
    return evaluation;
  }

  /// The worst violators, and from the last set those that have not reached a bound.
  std::vector<Index> working_set(const Active::Levels& levels) {
    const std::size_t most = std::min(set_size_, active_.size());
    std::vector<Index> kept;
    // The most violating pair must always have its place.
    const std::size_t most_kept = most < 8 ? 0 : most / 2;
    for (const Index v : last_set_)
      if (active_.is_free(v) && kept.size() < most_kept) kept.push_back(v);
    std::vector<bool> taken(active_.size(), false);
    for (const Index v : kept) taken[v] = true;
    std::vector<Index> set = active_.violators(most - kept.size(), levels, taken);
    set.insert(set.end(), kept.begin(), kept.end());
    last_set_ = set;
    return set;
  }

  /// Solves the problem of the working set and carries the change over; returns the decrease. Whole
  /// rows are needed only of the points that changed.
  double improve(const std::vector<Index>& set, const Active::Levels& levels) {
    InnerProblem inner = inner_problem(set);
    const AlignedVector<double> before = inner.level;
    const double target = std::max(inner_share * levels.violation(), goal_ / 2);
    steps_ += solve_inner(inner, target, steps_per_variable * set.size()).steps;

    double decrease = 0;
    std::vector<Index> changed;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const double moved = inner.beta[k] - active_.beta[set[k]];
      if (moved == 0) continue;
      decrease += moved * (before[k] + inner.level[k]) / 2;
      active_.beta[set[k]] = inner.beta[k];
      change_[active_.point[set[k]]] += moved;
      changed.push_back(active_.point[set[k]]);
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    std::vector<double> coefficients(changed.size());
    for (std::size_t k = 0; k < changed.size(); ++k)
      coefficients[k] = std::exchange(change_[changed[k]], 0.0);
    const auto keep = cache_.lacks_room_for(changed.size()) ? precious() : std::vector<bool>();
    add_change(cache_.rows(changed, keep, run_.threads), coefficients);
    release(set, changed);
    return decrease;
  }

  /// The problem over the working set: its kernel values from cached rows, the others computed.
  InnerProblem inner_problem(const std::vector<Index>& set) {
    InnerProblem inner(set.size());
    std::vector<Index> points, missing;  // in increasing order, without repetition
    for (const Index v : set) points.push_back(active_.point[v]);
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    std::vector<Index> place(set.size());
    for (std::size_t k = 0; k < set.size(); ++k)
      place[k] = static_cast<Index>(
          std::lower_bound(points.begin(), points.end(), active_.point[set[k]]) - points.begin());

    // Picking values out of many long rows takes about as long as computing simple ones.
    const bool cheap = active_.K->value_cost() < gathering_cost;
    for (std::size_t p = 0; p < points.size(); ++p)
      if (cheap || !cache_.holds(points[p])) missing.push_back(static_cast<Index>(p));
    std::vector<float> computed(missing.size() * points.size());
    std::vector<float*> row_of(points.size(), nullptr);
    for (std::size_t k = 0; k < missing.size(); ++k)
      row_of[missing[k]] = computed.data() + k * points.size();
    if (!missing.empty()) {
      std::vector<float*> out(missing.size());
      for (std::size_t k = 0; k < missing.size(); ++k) out[k] = row_of[missing[k]];
      active_.K->restrict_to(points)->rows(missing, 0, points.size(), out, run_.threads);
    }
    for (std::size_t k = 0; k < set.size(); ++k) {
      float* to = inner.K.data() + k * inner.stride;
      if (const float* row = row_of[place[k]]) {
        for (std::size_t i = 0; i < set.size(); ++i) to[i] = row[place[i]];
      } else {
        row = cache_.row(points[place[k]]);
        for (std::size_t i = 0; i < set.size(); ++i) to[i] = row[points[place[i]]];
      }
      const Index v = set[k];
      inner.level[k] = active_.level(v);
      inner.beta[k] = active_.beta[v];
      inner.lower[k] = active_.lower[v];
      inner.upper[k] = active_.upper[v];
      inner.curvature[k] = active_.curvature[v];
      inner.diagonal[k] = static_cast<double>(to[k]) + active_.curvature[v];
    }
    return inner;
  }

  /// Rows of points that have come to a bound are mostly not needed again.
  void release(const std::vector<Index>& set, const std::vector<Index>& changed) {
    std::vector<Index> free;
    for (const Index v : set)
      if (active_.is_free(v)) free.push_back(active_.point[v]);
    std::sort(free.begin(), free.end());
    std::vector<Index> leaving;
    std::set_difference(changed.begin(), changed.end(), free.begin(), free.end(),
                        std::back_inserter(leaving));
    cache_.release(leaving);
  }

  void add_change(std::span<const float* const> rows, std::span<const double> change) {
    std::vector<const float*> moved_rows;
    std::vector<double> moved;
    for (std::size_t k = 0; k < rows.size(); ++k)
      if (change[k] != 0) {
        moved_rows.push_back(rows[k]);
        moved.push_back(change[k]);
      }
    run_.threads.split(active_.f.size(), columns_per_task, [&](std::size_t begin, std::size_t end) {
      std::vector<const float*> from(moved_rows);
      for (const float*& row : from) row += begin;
      add_scaled_rows(from, moved, end - begin, active_.f.data() + begin);
    });
  }

  std::vector<bool> precious() const {
    std::vector<bool> result(active_.point_id.size(), false);
    for (std::size_t v = 0; v < active_.size(); ++v)
      if (active_.is_free(v)) result[active_.point[v]] = true;
    return result;
  }

  bool is_shrunk() const { return active_.size() < qp_.size(); }

  void shrink(const Active::Levels& levels) {
    since_shrink_ = 0;
    const std::vector<bool> settled = active_.settled(levels, levels.violation());
    const auto leaving = std::count(settled.begin(), settled.end(), true);
    if (static_cast<double>(leaving) < (1 - worth_shrinking) * static_cast<double>(active_.size()))
      return;
    keep_beta();
    if (!is_shrunk()) keep_f();
    const std::vector<Index> points = active_.leave_out(settled);
    cache_.restrict_to(active_.K, points);
    last_set_.clear();
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
    std::vector<double> a(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) a[v] = qp_.block[v].sign * beta_[v];
    active_ = Active(qp_, a);
    active_.f = full_f_;
    cache_ = RowCache(qp_.K, options_.cache_bytes, set_size_);
    last_set_.clear();
  }

  /// Hard margins only: the variables grow without end while w shrinks, relative to them.
  bool is_unbounded() const {
    double sum = 0, norm = 0, diagonal = 0;
    for (std::size_t v = 0; v < active_.size(); ++v) {
      sum += std::abs(active_.beta[v]);
      norm += active_.beta[v] * active_.f[active_.point[v]];
      diagonal = std::max(diagonal, active_.K->diagonal()[active_.point[v]]);
    }
    return norm < least_margin * least_margin * diagonal * sum * sum;
  }

  const DualQp& qp_;
  const Smo& options_;
  const Run& run_;
  Stopwatch clock_;
  Active active_;
  std::size_t set_size_;
  RowCache cache_;
  std::vector<double> beta_;  // of all variables; the active ones' at last keeping
  std::vector<double> full_f_, full_coefficients_;
  std::vector<Index> last_set_;
  std::vector<double> change_;  // of each point's coefficient, zero between iterations
  std::optional<Ended> ended_;
  bool hard_;  // some variable has no bound and no curvature
  double goal_;
  double first_violation_ = 0;
  double least_violation_ = infinity;
  double objective_ = 0;
  double best_primal_ = infinity, best_dual_ = -infinity, last_gap_ = infinity;
  double last_report_ = 0;
  std::size_t steps_ = 0;
  std::size_t since_shrink_ = 0;
  std::size_t idle_ = 0;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const Smo&) {
  if (qp.A.size() != 1) return "it needs exactly one equality row";
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (qp.A[0][v] != entry_scale(qp) * qp.block[v].sign || qp.A[0][v] == 0)
      return "the equality row must hold the signs of the variables";
  return std::nullopt;
}

Solution run(const DualQp& qp, const Smo& options, const Run& run) {
  return Outer(qp, options, run).solve();
}

}  // namespace maxmargin
