#include "maxmargin/solver/one_variable/one_variable.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/nearest_to_zero.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/one_variable/descent.hpp"
#include "maxmargin/solver/primal_dual/primal_dual.hpp"

namespace maxmargin {
namespace {

// Variables of a sweep whose kernel values are computed at once.
constexpr std::size_t block_size = 256;
// Sweeps without progress before a run counts as stalled: these methods may be slow.
constexpr std::size_t patience = 2000;

std::optional<std::string> refuses_rows(const DualQp& qp) {
  if (!qp.A.empty()) return "it takes no equality row: leave the bias out or penalise it (--bias)";
  return std::nullopt;
}

class Sweeps {
 public:
  Sweeps(const DualQp& qp, const Stop& stop, std::size_t cache_bytes, Pace pace, const Run& run)
      : qp_(qp),
        stop_(stop),
        limits_(run, stop),
        pace_(pace),
        block_(std::clamp<std::size_t>(cache_bytes / (qp.K->size() * sizeof(float) + 64), 1,
                                       block_size)),
        cache_(qp.K, cache_bytes, block_),
        descent_(qp, run.start.empty() ? nearest_to_zero(qp) : run.start, run.precision,
                 {cache_, block_, run}, run.start_f),
        goal_(stop.kkt / 2) {}

  Solution solve() {
    while (!ended_) sweep();
    Solution solution;
    solution.a = descent_.a();
    solution.ended = *ended_;
    solution.iterations = steps_;
    solution.best_dual = best_dual_;
    return solution;
  }

 private:
  /// All variables that violate their conditions when it begins, in their order.
  void sweep() {
    const double violation = descent_.look();
    if (first_violation_ == 0) first_violation_ = std::max(violation, goal_);
    if (violation <= goal_) return check_convergence();
    fresh_ = false;
    const std::vector<Index> turn = descent_.violators(goal_ / 2);
    double decrease = 0;
    for (std::size_t begin = 0; begin < turn.size(); begin += block_) {
      if (!within_limits(violation)) return;
      const auto size = std::min({block_, turn.size() - begin, stop_.iterations - steps_});
      const std::vector<Index> set(turn.begin() + static_cast<std::ptrdiff_t>(begin),
                                   turn.begin() + static_cast<std::ptrdiff_t>(begin + size));
      if (begin > 0) descent_.look();
      const Descent::Progress done = descent_.pass(set, pace_);
      steps_ += done.steps;
      decrease += done.decrease;
    }
    watch(decrease, violation);
  }

  void watch(double decrease, double violation) {
    objective_ -= decrease;
    if (decrease > 1e-15 * std::abs(objective_) || violation < 0.999 * least_violation_)
      idle_ = 0;
    else if (decrease == 0 || ++idle_ > patience)
      // Float rows may not allow for a smaller gap: whether it is small enough is judged in double.
      ended_ = 2 * violation <= stop_.kkt ? Ended::converged : Ended::stalled;
    least_violation_ = std::min(least_violation_, violation);
  }

  void check_convergence() {
    if (!fresh_) {
      descent_.refresh();
      fresh_ = true;
      return;
    }
    const Evaluation evaluation = evaluate(qp_, descent_.a(), descent_.f(), {});
    best_primal_ = std::min(best_primal_, evaluation.primal);
    best_dual_ = std::max(best_dual_, evaluation.dual);
    last_gap_ = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
    if (qp_.K->definite() == Definite::no || last_gap_ <= stop_.relative_gap) {
      ended_ = Ended::converged;
      return;
    }
    goal_ *= 0.3;
    // The rounding error of the derivatives exceeds the goal.
    if (goal_ < 1e-15 * first_violation_) ended_ = Ended::stalled;
  }

  bool within_limits(double violation) {
    Progress progress;
    progress.iteration = steps_;
    progress.kkt = 2 * violation;
    progress.active = progress.size = qp_.size();
    progress.primal = best_primal_;
    progress.dual = best_dual_;
    progress.relative_gap = last_gap_;
    progress.done = std::clamp(
        std::log(first_violation_ / violation) / std::max(1e-9, std::log(first_violation_ / goal_)),
        0.0, 1.0);
    if (steps_ >= stop_.iterations) ended_ = Ended::iteration_limit;
    if (!ended_ && !limits_.allow(progress)) ended_ = limits_.stopped();
    return !ended_;
  }

  const DualQp& qp_;
  const Stop& stop_;
  Limits limits_;
  Pace pace_;
  std::size_t block_;
  RowCache cache_;
  Descent descent_;
  std::optional<Ended> ended_;
  bool fresh_ = true;  // f is that of the variables, without the rounding of steps
  double goal_;
  double first_violation_ = 0, least_violation_ = infinity, objective_ = 0;
  double best_primal_ = infinity, best_dual_ = -infinity, last_gap_ = infinity;
  std::size_t steps_ = 0, idle_ = 0;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const GaussSeidel&) {
  return refuses_rows(qp);
}
std::optional<std::string> refuses(const DualQp& qp, const Sor&) { return refuses_rows(qp); }
std::optional<std::string> refuses(const DualQp& qp, const AdaTron&) { return refuses_rows(qp); }

Solution run(const DualQp& qp, const GaussSeidel& options, const Run& run) {
  PrimalDual without_rows;
  without_rows.stop = options.stop;
  without_rows.cache_bytes = options.cache_bytes;
  without_rows.working_set = options.working_set;
  without_rows.newton = options.newton;
  return maxmargin::run(qp, without_rows, run);
}

Solution run(const DualQp& qp, const Sor& options, const Run& run) {
  return Sweeps(qp, options.stop, options.cache_bytes, {options.relaxation, 0}, run).solve();
}

Solution run(const DualQp& qp, const AdaTron& options, const Run& run) {
  double largest = 0;
  for (std::size_t v = 0; v < qp.size(); ++v)
    largest = std::max(largest, qp.K->diagonal()[qp.row[v]] + qp.block[v].curvature);
  const double rate = options.rate / std::max(largest, 1e-300);
  return Sweeps(qp, options.stop, options.cache_bytes, {0, rate}, run).solve();
}

}  // namespace maxmargin
