#include "maxmargin/solver/interior_point/interior_point.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/problem/consistent.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/problem/nearest_to_zero.hpp"
#include "maxmargin/solver/equations/memory.hpp"
#include "maxmargin/solver/interior_point/low_rank_path.hpp"
#include "maxmargin/solver/interior_point/path.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

// The gap on the path at which the active set is tried for the first time, and by what the next try
// must be better.
constexpr double first_try = 1e-4;
constexpr double next_try = 0.1;
// Where equations hold to this, the active set is worth a try; below that gap the path has no more
// to tell.
constexpr double equations_hold = 1e-3;
constexpr double end_of_path = 1e-17;
constexpr int rounds = 8;
// Steps shorter than this lead nowhere; so many of them in a row and the run has stalled.
constexpr double short_step = 1e-6;
constexpr int patience = 5;
constexpr std::size_t most_iterations = 200;
// Rows that miss their sums by this share of their terms, where the path has come to its end, are
// suspected to contradict each other.
constexpr double contradiction = 1e-6;
// A hard margin below this share of the data's radius is none.
constexpr double least_margin = 1e-6;

class Follower {
 public:
  Follower(const DualQp& qp, const InteriorPoint& options, const Run& run)
      : qp_(qp), options_(options), run_(run), limits_(run, options.stop) {}

  Solution solve() {
    const std::shared_ptr<const LowRank> Z = qp_.K->low_rank(low_rank_columns(*qp_.K));
    const auto K = Z ? make_low_rank_points(Z, run_.threads)
                     : make_dense_points(*qp_.K, run_.threads, go_on());
    if (!K) return without_matrix();
    if (Z) run_.note(Way::few_columns);
    ReducedKkt kkt(qp_, *K);
    ActiveSet active_set(qp_, *K, kkt);
    if (!run_.start.empty() && try_start(active_set)) return finished(Ended::converged);
    Path path(qp_, *K, kkt);
    const Ended ended = follow(path, active_set);
    return finished(ended);
  }

 private:
  GoOn go_on() {
    return [this] { return within_limits(); };
  }

  bool within_limits() {
    progress_.size = qp_.size();
    progress_.iteration = iterations_;
    return limits_.allow(progress_);
  }

  Ended follow(Path& path, ActiveSet& active_set) {
    double wanted = std::max(first_try, std::min(options_.stop.relative_gap, 1e-3));
    int short_steps = 0;
    for (;; ++iterations_) {
      const Path::Rest rest = path.rest();
      report(path, rest);
      if (rest.gap <= wanted && std::max(rest.gradient, rest.equality) <= equations_hold) {
        if (try_polish(path, active_set)) return Ended::converged;
        wanted = rest.gap * next_try;
      }
      if (!within_limits()) return give_up(path, active_set, *limits_.stopped());
      if (iterations_ >= options_.stop.iterations)
        return give_up(path, active_set, Ended::iteration_limit);
      if (is_unbounded(path)) return give_up(path, active_set, Ended::unbounded);
      if (short_steps >= patience || iterations_ >= most_iterations || rest.gap < end_of_path)
        return stalled(path, active_set);
      const Factor::Outcome outcome = path.step(go_on());
      if (outcome == Factor::Outcome::stopped) return give_up(path, active_set, *limits_.stopped());
      if (outcome == Factor::Outcome::broke_down) return stalled(path, active_set);
      short_steps = path.last_length() < short_step ? short_steps + 1 : 0;
      if (options_.removal) path.remove_decided();
    }
  }

  bool meets(const Polished& polished) const {
    const Evaluation& e = polished.evaluation;
    return polished.is_feasible() && e.kkt <= options_.stop.kkt &&
           relative_gap(e.dual + e.gap, e.dual) <= options_.stop.relative_gap;
  }

  void keep(Polished polished) {
    best_dual_ = std::max(best_dual_, polished.evaluation.dual);
    // All variables at their bounds violate nothing but the equality rows.
    const bool better = polished.is_feasible() == best_.is_feasible()
                            ? polished.evaluation.kkt < best_.evaluation.kkt
                            : polished.is_feasible();
    if (best_.a.empty() || better) best_ = std::move(polished);
  }

  bool try_polish(Path& path, ActiveSet& active_set) {
    Polished polished = active_set.polish(path.a(), path.lambda(), path.sides(), rounds, go_on());
    const bool enough = meets(polished);
    keep(std::move(polished));
    return enough;
  }

  bool try_start(ActiveSet& active_set) {
    std::vector<Side> side(qp_.size(), Side::inside);
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      if (run_.start[v] <= qp_.block[v].lower) side[v] = Side::lower;
      if (run_.start[v] >= qp_.block[v].upper) side[v] = Side::upper;
    }
    Polished polished = active_set.polish(run_.start, std::vector<double>(qp_.A.size(), 0.0),
                                          std::move(side), rounds, go_on());
    const bool enough = meets(polished);
    keep(std::move(polished));
    return enough;
  }

  Ended stalled(Path& path, ActiveSet& active_set) {
    if (try_polish(path, active_set)) return Ended::converged;
    require_feasible();
    return Ended::stalled;
  }

  /// Each row by itself can be fulfilled, but all of them together need not.
  void require_feasible() const {
    if (best_.equality_residual <= contradiction || nearest_feasible(qp_, best_.a)) return;
    throw Error(Fault::data,
                "no coefficients within their bounds fulfil the " + std::to_string(qp_.A.size()) +
                    " equality rows together",
                "check that the rows do not contradict each other and the bounds");
  }

  /// The best answer so far, without another factorisation.
  Ended give_up(Path& path, ActiveSet& active_set, Ended ended) {
    keep(active_set.polish(path.a(), path.lambda(), path.sides(), 0, {}));
    return ended;
  }

  /// Stopped before K was complete: a point within the bounds, nothing known about it.
  Solution without_matrix() {
    std::vector<double> a = nearest_to_zero(qp_);
    restore_equality(qp_, a);
    best_.a = std::move(a);
    best_.evaluation.lambda.assign(qp_.A.size(), 0.0);
    return finished(*limits_.stopped());
  }

  bool is_unbounded(const Path& path) const {
    bool hard = false;
    double diagonal = 0;
    for (const Block& block : qp_.block) hard = hard || block.is_hard();
    if (!hard) return false;
    for (const double value : qp_.K->diagonal()) diagonal = std::max(diagonal, value);
    const double size = path.size_of_a();
    return path.squared_norm() < least_margin * least_margin * diagonal * size * size;
  }

  void report(const Path& path, const Path::Rest& rest) {
    progress_.dual = path.dual_objective();
    progress_.relative_gap = rest.gap;
    progress_.primal = progress_.dual + rest.gap * std::abs(progress_.dual);
    progress_.kkt = rest.gradient;
    progress_.active = path.active();
    if (first_gap_ == 0) first_gap_ = rest.gap;
    progress_.done = std::clamp(std::log(first_gap_ / std::max(rest.gap, 1e-300)) /
                                    std::log(std::max(2.0, first_gap_ / 1e-8)),
                                0.0, 1.0);
  }

  Solution finished(Ended ended) {
    Solution solution;
    solution.a = std::move(best_.a);
    solution.lambda = std::move(best_.evaluation.lambda);
    solution.ended = ended;
    solution.iterations = iterations_;
    solution.best_dual = best_dual_;
    return solution;
  }

  const DualQp& qp_;
  const InteriorPoint& options_;
  const Run& run_;
  Limits limits_;
  std::size_t iterations_ = 0;
  Progress progress_;
  double first_gap_ = 0;
  Polished best_;
  double best_dual_ = -infinity;
};

bool has_entropy(const DualQp& qp) {
  return std::ranges::any_of(qp.block,
                             [](const Block& block) { return block.entropy != Entropy::none; });
}

bool goes_by_low_rank(const DualQp& qp, const InteriorPoint& options) {
  return options.low_rank > 0 && qp.K->columns() > low_rank_columns(*qp.K);
}

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const InteriorPoint& options) {
  if (qp.K->definite() == Definite::no) return "it needs a positive semi-definite kernel";
  if (goes_by_low_rank(qp, options) &&
      most_low_rank_columns(qp.K->size(), options.memory_bytes) > 0)
    return std::nullopt;
  return lacking_memory(*qp.K, options.memory_bytes);
}

Solution run(const DualQp& qp, const InteriorPoint& options, const Run& run) {
  require_consistent(qp);
  if (!goes_by_low_rank(qp, options)) return Follower(qp, options, run).solve();
  const Stopwatch clock;
  run.note(Way::columns_for_K);
  Solution low_rank = run_low_rank(qp, options, run);
  if (low_rank.ended != Ended::stalled || !has_entropy(qp) ||
      lacking_memory(*qp.K, options.memory_bytes))
    return low_rank;
  // Their curvature has no lower bound that is known before, and no other solver takes them.
  Run whole = run;
  whole.seconds_before += clock.seconds();
  return Follower(qp, options, whole).solve();
}

}  // namespace maxmargin
