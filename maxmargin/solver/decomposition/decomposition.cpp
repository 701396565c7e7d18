#include "maxmargin/solver/decomposition/decomposition.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/problem/nearest_to_zero.hpp"
#include "maxmargin/problem/sub_problem.hpp"
#include "maxmargin/solver/cached.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/smo/first_point.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin {
namespace {

// How exactly a set is solved, relative to the violation that it starts with: the others will move.
constexpr double inner_share = 0.1;
constexpr double tail_factor = 0.3;
// Sets without progress before a larger one is tried, and before the run counts as stalled.
constexpr std::size_t idle_before_growth = 2, most_idle = 12;
constexpr double least_progress = 1e-14;
constexpr double no_limit = 1e300;
constexpr double least_defect = 1e-13, most_defect = 1e-9;
constexpr std::size_t most_refreshes = 20;

/// What both methods differ in.
struct Sets {
  SelectionRule rule;
  bool balanced;
  std::size_t size;
  std::size_t sticky;
  bool with_support_vectors;
  const InnerSolver& inner;
  const Stop& stop;
  std::size_t memory;
  CachePolicy cache;
};

Solver inner_solver(const DualQp& sub, const Sets& sets, const Stop& stop) {
  const std::string_view name = sets.inner.name.text();
  return name == "auto" ? choose_solver(sub, stop, sets.memory).solver
                        : named_solver(name, sub, stop, sets.memory);
}

std::optional<std::string> refuses_sets(const DualQp& qp, const Sets& sets) {
  if (qp.K->definite() == Definite::no)
    return "its sub-problems need a positive semi-definite kernel";
  const std::size_t least = qp.A.size() + 1;
  if (sets.size < least)
    return "its sets of " + std::to_string(sets.size) + " cannot move under " +
           std::to_string(qp.A.size()) + " equality row(s): take sets of at least " +
           std::to_string(least);
  const std::string_view name = sets.inner.name.text();
  if (name == Decomposition::name || name == Chunking::name)
    return "its inner solver would call itself: choose another --inner";
  std::vector<Index> few(std::min(qp.size(), sets.size));
  std::iota(few.begin(), few.end(), Index{0});
  const SubProblem part = sub_problem(qp, few);
  try {
    const Solver inner = inner_solver(part.qp, sets, sets.stop);
    if (const auto why = refusal(part.qp, inner))
      return "its inner solver '" + std::string(name_of(inner)) +
             "' cannot take the sub-problems: " + *why + "; choose another --inner";
  } catch (const Error& error) {
    return std::string(error.what());
  }
  return std::nullopt;
}

/// Some point within bounds and rows; where there are entropies, strictly within.
std::vector<double> start_of(const DualQp& qp) {
  std::vector<double> a = nearest_to_zero(qp);
  bool inside = false;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    if (block.entropy == Entropy::none) continue;
    inside = true;
    if (block.lower < 0) continue;  // 0 is inside
    a[v] = 0.1 * (std::isinf(block.upper) ? block.scale : block.upper);
  }
  if (!inside && !qp.A.empty()) {
    const RowKinds kinds = sort_rows(qp);
    if (!kinds.refusal) a = first_point(qp, kinds, std::move(a));
  }
  if (equality_defect(qp, a) <= least_defect) return a;
  return nearest_feasible(qp, a).value_or(a);
}

class WorkingSets {
 public:
  /// `K` is that of the problem, for products at all points.
  WorkingSets(const DualQp& qp, const Quadratic& K, const Sets& sets, const Run& run)
      : qp_(qp),
        K_(K),
        sets_(sets),
        run_(run),
        limits_(run, sets.stop),
        a_(run.start.empty() ? start_of(qp) : run.start),
        f_(run.start_f),
        goal_(sets.stop.kkt),
        size_(sets.size),
        bound_until_(qp.size(), 0),
        hard_(has_hard_margin(qp)),
        homogeneous_(is_homogeneous(qp)) {
    if (f_.empty()) refresh();
  }

  Solution solve() {
    while (!ended_) step();
    Solution solution;
    solution.a = std::move(a_);
    solution.lambda = std::move(lambda_);
    solution.ended = *ended_;
    solution.iterations = rounds_;
    solution.best_dual = best_dual_;
    solution.values_asked = asked_;
    solution.values_found = found_;
    if (fresh_) solution.f = std::move(f_);
    return solution;
  }

 private:
  void refresh() {
    f_.assign(K_.size(), 0.0);
    K_.multiply(qp_.coefficients(a_), f_, run_.precision, run_.threads);
    fresh_ = true;
  }

  void step() {
    const Evaluation now = evaluate(qp_, a_, f_, lambda_);
    lambda_ = now.lambda;
    best_primal_ = std::min(best_primal_, now.primal);
    best_dual_ = std::max(best_dual_, now.dual);
    if (first_violation_ == 0) first_violation_ = std::max(now.kkt, goal_);
    const double gap = relative_gap(now.dual + now.gap, now.dual);
    if (now.kkt <= goal_) return check_convergence(now, gap);
    if (hard_ && Sizes(qp_, a_, f_).are_unbounded()) {
      ended_ = Ended::unbounded;
      return;
    }
    if (!within_limits(now, gap)) return;
    const std::vector<Index> set = choose(now);
    if (set.empty() || !solve_set(set, now)) return stall(now);
    idle_ = 0;
  }

  std::vector<double> slopes(const Evaluation& now) const {
    std::vector<double> h(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      h[v] = qp_.block[v].sign * f_[qp_.row[v]];
      for (std::size_t r = 0; r < qp_.A.size(); ++r) h[v] += qp_.A[r][v] * now.lambda[r];
    }
    return h;
  }

  std::vector<Index> choose(const Evaluation& now) {
    const std::vector<double> h = slopes(now);
    // Twice the largest violation at the multipliers is what `kkt` is at most.
    std::vector<double> score = scores(qp_, a_, h, sets_.rule, 0.01 * goal_);
    bool stuck = false;
    for (std::size_t v = 0; v < qp_.size(); ++v)
      if (score[v] > 0 && bound_until_[v] > rounds_) {
        score[v] = 0;
        stuck = true;
      }
    // A set that brought nothing is followed by one that surely can move.
    const bool balanced = sets_.balanced || idle_ > 0;
    const std::size_t violators = idle_ > 0 ? std::max<std::size_t>(1, size_ / 2) : size_;
    std::vector<Index> set = best_scored(qp_, a_, h, score, violators, balanced);
    if (stuck && set.size() <= qp_.A.size()) {
      std::ranges::fill(bound_until_, 0);
      return choose(now);
    }
    if (sets_.with_support_vectors) add_support_vectors(set);
    if (!sets_.with_support_vectors || idle_ > 0) fill_up(set, h);
    std::sort(set.begin(), set.end());
    return set;
  }

  void add_support_vectors(std::vector<Index>& set) const {
    std::vector<bool> taken(qp_.size(), false);
    for (const Index v : set) taken[v] = true;
    for (std::size_t v = 0; v < qp_.size(); ++v)
      if (!taken[v] && a_[v] != 0) set.push_back(static_cast<Index>(v));
  }

  /// What is left of the set's room goes to those nearest to a violation, the free ones first:
  /// violators alone may be tied up by the equality rows.
  void fill_up(std::vector<Index>& set, std::span<const double> h) const {
    if (set.size() >= size_) return;
    std::vector<bool> taken(qp_.size(), false);
    for (const Index v : set) taken[v] = true;
    std::vector<std::pair<double, Index>> others;
    for (std::size_t v = 0; v < qp_.size(); ++v)
      if (!taken[v])
        others.emplace_back(std::abs(h[v] + qp_.block[v].slope(a_[v])), static_cast<Index>(v));
    const std::size_t room = std::min(size_ - set.size(), others.size());
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(room),
                      others.end());
    for (std::size_t k = 0; k < room; ++k) set.push_back(others[k].second);
  }

  /// The sub-problem (10.57), its linear part with the precision of the run.
  SubProblem part_of(const std::vector<Index>& set) const {
    SubProblem part = sub_problem(qp_, set);
    const std::vector<double> own = part.part_of(a_);
    std::vector<double> own_f(part.points.size());
    part.qp.K->multiply(part.qp.coefficients(own), own_f, run_.precision, run_.threads);
    for (std::size_t k = 0; k < set.size(); ++k) {
      Block& block = part.qp.block[k];
      block.linear += block.sign * (f_[qp_.row[set[k]]] - own_f[part.qp.row[k]]);
    }
    for (std::size_t r = 0; r < qp_.A.size(); ++r)
      part.qp.d[r] = std::inner_product(own.begin(), own.end(), part.qp.A[r].begin(), 0.0);
    return part;
  }

  /// False if it brought nothing.
  bool solve_set(const std::vector<Index>& set, const Evaluation& before) {
    const SubProblem part = part_of(set);
    Stop stop;
    stop.kkt = std::max(inner_share * before.kkt, goal_ / 4) / (idle_ > 0 ? 10 : 1);
    stop.relative_gap = no_limit;
    stop.seconds = std::max(0.0, sets_.stop.seconds - run_.seconds_before - clock_.seconds());
    const Solver inner = inner_solver(part.qp, sets_, stop);
    ++rounds_;
    const Certified solved = maxmargin::solve(
        part.qp, inner, {run_.threads, observer_of_part(run_.observer, qp_.size())});
    asked_ += solved.solution.values_asked;
    found_ += solved.solution.values_found;
    lambda_ = solved.solution.lambda;
    return move(part, solved.solution.a);
  }

  /// The objective's decrease by the new values is that of the sub-problem.
  bool move(const SubProblem& part, std::vector<double> found) {
    const std::vector<double> old = part.part_of(a_);
    std::vector<Index> points;
    std::vector<double> change(part.points.size(), 0.0), changes;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const Block& block = part.qp.block[k];
      found[k] = std::clamp(found[k], block.lower, block.upper);
      change[part.qp.row[k]] += block.sign * (found[k] - old[k]);
    }
    std::vector<double> product(part.points.size());
    part.qp.K->multiply(change, product, run_.precision, run_.threads);
    double decrease = 0;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const Block& block = part.qp.block[k];
      const double step = found[k] - old[k], f = f_[part.points[part.qp.row[k]]];
      const Block& whole = qp_.block[part.variables[k]];
      decrease -= whole.value(found[k]) - whole.value(old[k]) +
                  block.sign * step * (f + product[part.qp.row[k]] / 2);
      // Of the Lagrangian: rows that are kept to rounding change the objective by their price.
      for (std::size_t r = 0; r < lambda_.size(); ++r)
        decrease -= lambda_[r] * part.qp.A[r][k] * step;
    }
    // Close to the optimum a decrease is rounding, and the conditions of the variables count.
    const double rounding = least_progress * std::abs(best_dual_);
    if (!(decrease > -rounding)) return false;
    for (std::size_t p = 0; p < change.size(); ++p)
      if (change[p] != 0) {
        points.push_back(part.points[p]);
        changes.push_back(change[p]);
      }
    part.put_back(found, a_);
    if (!points.empty()) K_.add_product(points, changes, f_, run_.threads);
    fresh_ = false;
    for (std::size_t k = 0; k < found.size(); ++k) {
      const Block& block = part.qp.block[k];
      const bool bound = found[k] == block.lower || found[k] == block.upper;
      bound_until_[part.variables[k]] = bound ? rounds_ + sets_.sticky : 0;
    }
    return decrease > rounding;
  }

  void stall(const Evaluation& now) {
    if (!fresh_) refresh();
    ++idle_;
    std::ranges::fill(bound_until_, 0);
    if (idle_ > idle_before_growth) size_ = std::min(qp_.size(), 2 * size_);
    if (idle_ <= most_idle) return;
    // Float rows may allow for no less: whether it is enough is judged in double.
    const bool near = now.kkt <= sets_.stop.kkt || run_.precision == Precision::fast;
    ended_ = near && keeps_rows() ? Ended::converged : Ended::stalled;
  }

  bool keeps_rows() const { return equality_defect(qp_, a_) <= most_defect; }

  void check_convergence(const Evaluation& now, double gap) {
    if (!fresh_ || equality_defect(qp_, a_) > least_defect) {
      // Sets keep the rows to rounding only, and there are many of them.
      if (equality_defect(qp_, a_) > least_defect)
        if (auto kept = nearest_feasible(qp_, a_)) a_ = std::move(*kept);
      refresh();
      if (++refreshes_ <= most_refreshes) return;
      if (!keeps_rows()) {
        ended_ = Ended::stalled;
        return;
      }
    }
    const bool gap_counts = qp_.K->definite() != Definite::no;
    if (!gap_counts || gap <= sets_.stop.relative_gap) {
      ended_ = Ended::converged;
      return;
    }
    if (homogeneous_ && Sizes(qp_, a_, f_).are_of_no_margin()) {
      ended_ = Ended::unbounded;
      return;
    }
    goal_ = tail_factor * std::min(goal_, now.kkt);
    // The gradient's rounding error exceeds the goal.
    if (goal_ < 1e-15 * first_violation_) ended_ = Ended::stalled;
  }

  bool within_limits(const Evaluation& now, double gap) {
    Progress progress;
    progress.iteration = rounds_;
    progress.kkt = now.kkt;
    progress.active = std::min(size_, qp_.size());
    progress.size = qp_.size();
    progress.primal = best_primal_;
    progress.dual = best_dual_;
    progress.relative_gap = gap;
    progress.done = std::clamp(
        std::log(first_violation_ / now.kkt) / std::max(1e-9, std::log(first_violation_ / goal_)),
        0.0, 1.0);
    if (rounds_ >= sets_.stop.iterations) ended_ = Ended::iteration_limit;
    if (!ended_ && !limits_.allow(progress)) ended_ = limits_.stopped();
    return !ended_;
  }

  const DualQp& qp_;
  const Quadratic& K_;
  const Sets& sets_;
  const Run& run_;
  Limits limits_;
  Stopwatch clock_;
  std::vector<double> a_, f_, lambda_;
  double goal_;
  std::size_t size_;                      // of a set, now
  std::vector<std::size_t> bound_until_;  // sticky flags: the round up to which a variable rests
  bool hard_, homogeneous_;
  bool fresh_ = true;  // f is that of the variables, without the rounding of sets
  std::optional<Ended> ended_;
  std::size_t rounds_ = 0, idle_ = 0, refreshes_ = 0, asked_ = 0, found_ = 0;
  double first_violation_ = 0;
  double best_primal_ = infinity, best_dual_ = -infinity;
};

/// Sub-problems are of the plain matrix: their solver keeps what it needs.
Solution run_sets(const DualQp& qp, const Sets& sets, const Run& run) {
  return run_cached(qp, sets.cache, sets.memory, run.threads, [&](const DualQp& cached) {
    return WorkingSets(qp, *cached.K, sets, run).solve();
  });
}

Sets sets_of(const Decomposition& options) {
  return {options.selection,
          options.balanced,
          static_cast<std::size_t>(options.working_set),
          static_cast<std::size_t>(options.sticky),
          false,
          options.inner,
          options.stop,
          options.cache_bytes,
          options.cache};
}
Sets sets_of(const Chunking& options) {
  return {SelectionRule::gradient,
          true,
          static_cast<std::size_t>(options.chunk),
          0,
          true,
          options.inner,
          options.stop,
          options.cache_bytes,
          options.cache};
}

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const Decomposition& options) {
  return refuses_sets(qp, sets_of(options));
}
std::optional<std::string> refuses(const DualQp& qp, const Chunking& options) {
  return refuses_sets(qp, sets_of(options));
}

Solution run(const DualQp& qp, const Decomposition& options, const Run& run) {
  return run_sets(qp, sets_of(options), run);
}
Solution run(const DualQp& qp, const Chunking& options, const Run& run) {
  return run_sets(qp, sets_of(options), run);
}

}  // namespace maxmargin
