#include "maxmargin/solver/primal_dual/primal_dual.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/problem/matrix/cache/row_cache.hpp"
#include "maxmargin/problem/nearest_to_zero.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/one_variable/descent.hpp"
#include "maxmargin/solver/one_variable/free_steps.hpp"
#include "maxmargin/solver/primal_dual/orthogonal_rows.hpp"

namespace maxmargin {
namespace {

// Within a working set this share of the violation is left.
constexpr double inner_share = 0.1;
constexpr std::size_t steps_per_variable = 100;
// A step of the multipliers in units of the penalty: the method of multipliers converges below 2.
constexpr double longest_relaxation = 1.9;
// The factor of the allowed violation at each step of the multipliers.
constexpr double tightening = 0.3;
// After so many steps of the multipliers without a smaller residual, the variables are taken to be
// too inexact; steps without a safeguard may take longer.
constexpr int safe_patience = 5;
constexpr int unsafe_patience = 20;
// How fast the bound of a step grows while a residual keeps its sign.
constexpr double bound_growth = 1.2;
// A step that leaves more than this of the residual makes the penalty grow.
constexpr double enough_reduction = 0.5;
constexpr double growth = 2;
constexpr double most_growth = 1e6;
// Stalled after steps enough to move every variable this many times without progress.
constexpr std::size_t patience = 20;
// Relative residual at which the systems of the Hessian count as solved.
constexpr double converged_share = 0.05;
// Most working sets, in sum, for which the multipliers wait for that; a singular Q may never get
// there.
constexpr int most_waits = 50;
// Newton steps of all free variables are taken so many at a time.
constexpr double most_newton_steps = 4;
// Stalled after tightening the thresholds this many times without a smaller gap.
constexpr int most_idle_tightenings = 8;

/// The curvature h_r = A_r'Q^-1 A_r of the dual function along each multiplier, by the systems
/// Q gamma_r = -A_r: each is the minimum of 1/2 g'Qg + A_r'g without bounds.
class HessianDiagonal {
 public:
  HessianDiagonal(const DualQp& qp, Descent::Shared shared) : rows_(qp.A) {
    for (const std::vector<double>& row : qp.A) {
      DualQp& system = problems_.emplace_back();
      system.K = qp.K;
      system.row = qp.row;
      system.block = qp.block;
      for (std::size_t v = 0; v < row.size(); ++v) {
        system.block[v].linear = row[v];
        system.block[v].lower = -infinity;
        system.block[v].upper = infinity;
      }
      systems_.emplace_back(system, std::vector<double>(row.size(), 0.0), Precision::fast, shared);
      first_.push_back(systems_.back().look());
    }
    now_ = first_;
  }

  /// As many steps in each system.
  void improve(std::size_t steps) {
    for (std::size_t r = 0; r < systems_.size(); ++r) {
      if (now_[r] <= converged_share * converged_share * first_[r]) continue;
      systems_[r].improve(inner_share * now_[r], steps);
      now_[r] = systems_[r].look();
    }
  }

  bool has_converged() const {
    for (std::size_t r = 0; r < systems_.size(); ++r)
      if (now_[r] > converged_share * first_[r]) return false;
    return true;
  }

  /// 0 before the first step.
  double at(std::size_t r) const {
    double sum = 0;
    for (std::size_t v = 0; v < rows_[r].size(); ++v) sum -= rows_[r][v] * systems_[r].a()[v];
    return std::max(0.0, sum);
  }

 private:
  const std::vector<std::vector<double>>& rows_;
  std::deque<DualQp> problems_;
  std::deque<Descent> systems_;
  std::vector<double> first_, now_;  // largest residuals
};

/// Q's mean diagonal over the mean square of each row's entries, and the root of that square.
struct Units {
  std::vector<double> penalty, size;

  explicit Units(const DualQp& qp) {
    const double n = static_cast<double>(qp.size());
    double diagonal = 0;
    for (std::size_t v = 0; v < qp.size(); ++v)
      diagonal += std::abs(qp.K->diagonal()[qp.row[v]]) + qp.block[v].curvature;
    for (const std::vector<double>& row : qp.A) {
      double squares = 0;
      for (const double entry : row) squares += entry * entry;
      const bool usable = squares > 0 && diagonal > 0;
      penalty.push_back(usable ? diagonal / squares : 1);
      size.push_back(usable ? std::sqrt(squares / n) : 1);
    }
  }
};

class Method {
 public:
  /// `rows`: the orthogonalisation that made the rows of `qp`; may be null.
  Method(const DualQp& qp, const PrimalDual& options, const Run& run,
         const OrthogonalRows* rows = nullptr)
      : qp_(qp),
        rows_(rows),
        options_(options),
        run_(run),
        limits_(run, options.stop),
        units_(qp),
        set_size_(set_size(qp, options)),
        cache_(qp.K, options.cache_bytes, set_size_),
        shared_{cache_, set_size_, run, options.newton},
        primal_(qp, run.start.empty() ? nearest_to_zero(qp) : run.start, run.precision, shared_,
                run.start_f),
        bound_(qp.A.size(), 0.0),
        last_residual_(qp.A.size(), 0.0) {
    hard_ = has_hard_margin(qp);
    homogeneous_ = is_homogeneous(qp);
    eps_p_ = options.primal_tolerance > 0 ? options.primal_tolerance : options.stop.kkt / 2;
    for (std::size_t r = 0; r < qp.A.size(); ++r)
      eps_d_.push_back(options.dual_tolerance > 0
                           ? options.dual_tolerance / (rows ? rows->largest_growth() : 1)
                           : eps_p_ / (units_.penalty[r] * units_.size[r]));
    if (options.safeguard == Safeguard::augmented)
      for (std::size_t r = 0; r < qp.A.size(); ++r)
        primal_.penalty[r] = options.penalty * units_.penalty[r];
    if (options.hessian && !qp.A.empty()) hessian_.emplace(qp, shared_);
    if (!run.start.empty())
      primal_.lambda = evaluate(qp, primal_.a(), primal_.f(), primal_.lambda).lambda;
  }

  Solution solve() {
    while (!ended_) iterate();
    if (lambda_.size() != qp_.A.size()) end_feasibly();
    Solution solution;
    solution.a = primal_.a();
    solution.lambda = rows_ ? rows_->multipliers(std::move(lambda_)) : std::move(lambda_);
    solution.ended = *ended_;
    solution.iterations = steps_;
    solution.best_dual = best_dual_;
    return solution;
  }

 private:
  /// No more variables than there is room for rows in the cache.
  static std::size_t set_size(const DualQp& qp, const PrimalDual& options) {
    const std::size_t row_bytes = qp.K->size() * sizeof(float) + 64;
    return std::clamp<std::size_t>(options.cache_bytes / row_bytes, 1,
                                   static_cast<std::size_t>(options.working_set));
  }

  void iterate() {
    violation_ = primal_.look();
    if (first_violation_ == 0) begin();
    if (violation_ <= tolerance_) {
      if (violation_ <= eps_p_ && residual_is_small()) return check_convergence();
      if (hessian_ && options_.wait && !hessian_->has_converged() && waits_++ < most_waits)
        hessian_->improve(steps_per_variable * set_size_);
      else
        move_multipliers();
      within_limits();
      return;
    }
    if (!within_limits()) return;
    // Newton's steps move no variable off its bound, and what rounding gains them counts no step:
    // without a set between them they would go on for ever.
    if (++sets_ > std::max(1, run_.costs.singles.sets_before_newton) && newton()) return;
    const std::size_t most = std::min(set_size_ == 1 ? 1 : steps_per_variable * set_size_,
                                      options_.stop.iterations - steps_);
    const Descent::Progress done =
        primal_.improve(std::max(inner_share * violation_, tolerance_ / 2), most);
    steps_ += done.steps;
    if (done.steps == 0) return too_small_to_show();
    count_work(done.steps);
    if (hessian_) hessian_->improve(done.steps);
    watch(done.decrease);
    tell(false);
    if (hard_ && is_unbounded()) ended_ = Ended::unbounded;
  }

  void count_work(std::size_t steps) {
    const auto moved = static_cast<double>(std::min(steps, set_size_));
    work_ += run_.costs.single_step * static_cast<double>(steps * set_size_) +
             moved * qp_.K->value_cost() * static_cast<double>(qp_.K->size());
  }

  /// All free variables at once, where that costs little beside the rest: not by the clock, so that
  /// the same input takes the same path. False if it did not help.
  bool newton() {
    sets_ = 0;
    if (!options_.newton) return false;
    const std::size_t free = primal_.free_variables().size();
    const std::size_t bytes = free * free * (sizeof(float) + sizeof(double));
    const double cost = run_.costs.newton(free), worth = run_.costs.singles.newton_share * work_;
    if (free < 2 || bytes > options_.cache_bytes || cost > worth) return false;
    const double steps = CostModel::steps_within(worth, cost, most_newton_steps);
    work_ += cost * steps;
    const double decrease = primal_.improve_free(static_cast<int>(steps)).decrease;
    objective_ -= decrease;
    if (decrease > 0) run_.note(Way::primal_dual_free);
    return decrease > 0;
  }

  void begin() {
    first_violation_ = std::max(violation_, eps_p_);
    // The penalty bears with inexact variables at first; without it the seed's way is the safe one.
    tolerance_ = options_.safeguard == Safeguard::augmented && !qp_.A.empty()
                     ? std::max(eps_p_, inner_share * first_violation_)
                     : eps_p_;
  }

  bool residual_is_small() const {
    for (std::size_t r = 0; r < qp_.A.size(); ++r)
      if (!(std::abs(primal_.residual()[r]) <= eps_d_[r])) return false;
    return true;
  }

  void move_multipliers() {
    // A bound before the end, where the rows do not hold and the offset is not the best.
    if (!hard_) bound_here_ = offset_gap(qp_, primal_.a(), primal_.f(), primal_.lambda);
    best_primal_ = std::min(best_primal_, bound_here_.primal);
    double size = 0;
    for (std::size_t r = 0; r < qp_.A.size(); ++r) {
      const double residual = primal_.residual()[r];
      primal_.lambda[r] += step(r, residual);
      size = std::max(size, std::abs(residual) / eps_d_[r]);
      last_residual_[r] = residual;
    }
    tell(true);
    idle_ = 0;
    least_violation_ = infinity;
    tolerance_ = std::max(std::min(tolerance_, eps_p_), tightening * tolerance_);
    const bool safe = options_.safeguard == Safeguard::augmented;
    if (safe && size > enough_reduction * last_size_ && penalty_growth_ < most_growth) {
      for (double& each : primal_.penalty) each *= growth;
      penalty_growth_ *= growth;
    }
    if (homogeneous_ && Sizes(qp_, primal_.a(), primal_.f()).are_of_no_digits() && !ends_here() &&
        no_margin_) {
      ended_ = Ended::unbounded;
      return;
    }
    last_size_ = size;
    fruitless_ = size < 0.9 * least_size_ ? 0 : fruitless_ + 1;
    least_size_ = std::min(size, least_size_);
    if (fruitless_ < (safe ? safe_patience : unsafe_patience)) return;
    fruitless_ = 0;
    tolerance_ *= tightening;
    if (tolerance_ < 1e-15 * first_violation_) give_up();
  }

  double step(std::size_t r, double residual) {
    const double penalty = primal_.penalty[r];
    const double newton = hessian_ ? 1 / hessian_->at(r) : infinity;
    switch (options_.safeguard) {
      case Safeguard::augmented:
        return std::min(hessian_ ? penalty + newton : penalty, longest_relaxation * penalty) *
               residual;
      case Safeguard::bounded:
        if (last_residual_[r] == 0)
          bound_[r] = units_.penalty[r] * std::abs(residual);
        else
          bound_[r] *= (residual > 0) == (last_residual_[r] > 0) ? bound_growth : 0.5;
        return std::copysign(std::min(newton * std::abs(residual), bound_[r]), residual);
      case Safeguard::none:
        break;
    }
    return (std::isinf(newton) ? units_.penalty[r] : newton) * residual;
  }

  /// The steps that the remaining violations ask for are below the rounding of the variables.
  void too_small_to_show() {
    if (qp_.A.empty() || residual_is_small())
      give_up();
    else
      move_multipliers();
  }

  /// Progress is a decrease above the rounding of the objective, or a smaller violation
  /// than ever since the multipliers moved. A run without either has stalled.
  void watch(double decrease) {
    objective_ -= decrease;
    if (decrease > 1e-15 * std::abs(objective_) || violation_ < 0.99 * least_violation_)
      idle_ = 0;
    else if (++idle_ > patience * (qp_.size() / set_size_ + 50))
      give_up();
    least_violation_ = std::min(least_violation_, violation_);
  }

  /// Whether the nearest feasible point meets what was asked for; the run has ended there if so.
  bool ends_here() {
    const Placed placed = feasible_place();
    const Evaluation evaluation = evaluate(qp_, placed.a, placed.f, primal_.multipliers());
    best_primal_ = std::min(best_primal_, evaluation.primal);
    best_dual_ = std::max(best_dual_, evaluation.dual);
    last_gap_ = relative_gap(evaluation.dual + evaluation.gap, evaluation.dual);
    last_kkt_ = evaluation.kkt;
    const bool gap_counts = qp_.K->definite() != Definite::no;
    if (!(evaluation.kkt <= options_.stop.kkt) ||
        (gap_counts && !(last_gap_ <= options_.stop.relative_gap))) {
      const Sizes sizes(qp_, placed.a, placed.f);
      const bool only_gap_fails = evaluation.kkt <= options_.stop.kkt;
      no_margin_ =
          homogeneous_ && (only_gap_fails ? sizes.are_of_no_margin() : sizes.are_of_no_digits());
      return false;
    }
    lambda_ = evaluation.lambda;
    primal_.move_to(placed.a, placed.f);
    ended_ = Ended::converged;
    return true;
  }

  /// The conditions on variables and rows hold to eps_p and eps_d. Where that is not enough for the
  /// certificate, they are asked to hold better.
  void check_convergence() {
    if (ends_here()) return;
    if (no_margin_) {
      ended_ = Ended::unbounded;
      return;
    }
    const bool nearer = last_gap_ < 0.9 * least_gap_ ||
                        (last_kkt_ > options_.stop.kkt && last_kkt_ < 0.9 * least_kkt_);
    idle_tightenings_ = nearer ? 0 : idle_tightenings_ + 1;
    least_gap_ = std::min(least_gap_, last_gap_);
    least_kkt_ = std::min(least_kkt_, last_kkt_);
    eps_p_ *= tightening;
    for (double& each : eps_d_) each *= tightening;
    tolerance_ = eps_p_;
    least_violation_ = infinity;
    // The rounding error of the derivatives exceeds the goal.
    if (eps_p_ < 1e-15 * first_violation_ || idle_tightenings_ > most_idle_tightenings) give_up();
  }

  /// Float rows may not allow for a smaller gap: whether it is small enough is judged in double.
  void give_up() {
    if (ends_here()) return;
    ended_ = no_margin_                       ? Ended::unbounded
             : last_kkt_ <= options_.stop.kkt ? Ended::converged
                                              : Ended::stalled;
  }

  struct Placed {
    std::vector<double> a, f;
  };
  /// The nearest point where A a = d, and f there. Where there is none: the point itself. Variables
  /// leave their bounds only as far as they have to: those with small derivatives, which are few.
  Placed feasible_place() const {
    std::optional<std::vector<double>> found =
        gently_feasible(qp_, primal_.a(), primal_.slope(), eps_p_, first_violation_);
    if (!found) found = nearest_feasible(qp_, primal_.a());
    if (!found) return {primal_.a(), primal_.f()};
    std::vector<double> difference = *found;
    for (std::size_t v = 0; v < difference.size(); ++v) difference[v] -= primal_.a()[v];
    std::vector<double> f(qp_.K->size());
    qp_.K->multiply(qp_.coefficients(difference), f, Precision::fast, run_.threads);
    for (std::size_t p = 0; p < f.size(); ++p) f[p] += primal_.f()[p];
    return {std::move(*found), std::move(f)};
  }

  void end_feasibly() {
    lambda_ = primal_.multipliers();
    Placed placed = feasible_place();
    primal_.move_to(std::move(placed.a), std::move(placed.f));
  }

  bool within_limits() {
    Progress progress;
    progress.iteration = steps_;
    progress.kkt = 2 * violation_;
    progress.active = progress.size = qp_.size();
    progress.primal = best_primal_;
    progress.dual = best_dual_;
    progress.relative_gap = last_gap_;
    progress.done = std::clamp(std::log(first_violation_ / std::max(violation_, tolerance_)) /
                                   std::max(1e-9, std::log(first_violation_ / eps_p_)),
                               0.0, 1.0);
    if (steps_ >= options_.stop.iterations) ended_ = Ended::iteration_limit;
    if (!ended_ && !limits_.allow(progress)) ended_ = limits_.stopped();
    return !ended_;
  }

  void tell(bool dual_step) const {
    if (options_.watch == nullptr) return;
    double largest = 0;
    for (const double each : rows_ ? rows_->residual(primal_.residual()) : primal_.residual())
      largest = std::max(largest, std::abs(each));
    const std::vector<double> lambda = rows_ ? rows_->multipliers(primal_.lambda) : primal_.lambda;
    (*options_.watch)({steps_, violation_, largest, lambda, dual_step, bound_here_});
  }

  bool is_unbounded() const {
    Sizes sizes(qp_, primal_.a(), primal_.f());
    // As long as the rows do not hold, the penalty is a part of the objective.
    for (std::size_t r = 0; r < qp_.A.size(); ++r)
      sizes.norm += primal_.penalty[r] * primal_.residual()[r] * primal_.residual()[r];
    return sizes.are_unbounded();
  }

  const DualQp& qp_;
  const OrthogonalRows* rows_;
  const PrimalDual& options_;
  const Run& run_;
  Limits limits_;
  Units units_;
  std::size_t set_size_;
  RowCache cache_;
  Descent::Shared shared_;
  Descent primal_;
  std::optional<HessianDiagonal> hessian_;
  std::vector<double> lambda_;
  std::optional<Ended> ended_;
  bool hard_ = false, homogeneous_ = false, no_margin_ = false;  // see margin.hpp
  double eps_p_ = 0;
  std::vector<double> eps_d_;  // of each row
  double tolerance_ = 0;       // the violation at which the multipliers move
  std::vector<double> bound_, last_residual_;
  double violation_ = infinity, first_violation_ = 0, least_violation_ = infinity;
  double objective_ = 0;
  OffsetGap bound_here_;
  double best_primal_ = infinity, best_dual_ = -infinity, last_gap_ = infinity,
         last_kkt_ = infinity;
  std::size_t steps_ = 0, idle_ = 0;
  double last_size_ = infinity, least_size_ = infinity;  // of the residuals, in units of eps_d
  double penalty_growth_ = 1;
  double least_gap_ = infinity, least_kkt_ = infinity;  // at the checks of convergence
  int idle_tightenings_ = 0;
  int waits_ = 0;
  int sets_ = 0;     // since the last Newton steps
  double work_ = 0;  // an estimate, in nanoseconds of one core
  int fruitless_ = 0;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const PrimalDual& options) {
  if (qp.K->definite() == Definite::no && !qp.A.empty())
    return "the kernel is not positive semi-definite";
  if (options.wait && !options.hessian) return "it cannot wait for an estimate it does not make";
  return std::nullopt;
}

Solution run(const DualQp& qp, const PrimalDual& options, const Run& run) {
  if (!options.orthogonal || qp.A.size() < 2) return Method(qp, options, run).solve();
  const OrthogonalRows rows(qp);
  if (rows.contradictory()) return Method(qp, options, run).solve();
  return Method(rows.problem(), options, run, &rows).solve();
}

}  // namespace maxmargin
