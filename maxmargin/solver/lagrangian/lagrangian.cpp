#include "maxmargin/solver/lagrangian/lagrangian.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "maxmargin/solver/equations/active_set.hpp"
#include "maxmargin/solver/equations/memory.hpp"
#include "maxmargin/solver/lagrangian/sweep.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

// Iterations before the first look at how good the answer is; later looks are rarer.
constexpr std::size_t first_look = 4;
constexpr double rarer = 1.25;
constexpr int rounds = 4;
// A look that improves the violation by less than this factor over so many looks: stalled.
constexpr double progress = 0.9;
constexpr int patience = 40;

class Iteration {
 public:
  Iteration(const DualQp& qp, const Lagrangian& options, const Run& run)
      : qp_(qp), options_(options), run_(run), limits_(run, options.stop) {}

  Solution solve() {
    const auto Z = qp_.K->low_rank(low_rank_columns(*qp_.K));
    K_ = Z ? make_low_rank_points(Z, run_.threads)
           : make_dense_points(*qp_.K, run_.threads, [this] { return within_limits(); });
    if (!K_) {
      best_.a.assign(qp_.size(), 0.0);
      return finished(*limits_.stopped());
    }
    kkt_ = std::make_unique<ReducedKkt>(qp_, *K_);
    sweep_ = Z ? make_low_rank_sweep(qp_, Z, run_.threads) : make_dense_sweep(qp_, *kkt_);
    return finished(iterate());
  }

 private:
  Ended iterate() {
    // The first a is that of r = -p: as if nothing were bounded.
    r_.resize(qp_.size());
    a_.resize(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) r_[v] = -qp_.block[v].linear;
    std::size_t look = first_look;
    for (;; ++iterations_) {
      sweep_->run(r_, a_, options_.relaxation);
      if (iterations_ + 1 >= look) {
        look = iterations_ + 2 + static_cast<std::size_t>(static_cast<double>(look) * (rarer - 1));
        if (enough()) return Ended::converged;
        if (looks_without_progress_ > patience) return Ended::stalled;
      }
      if (!within_limits() || iterations_ + 1 >= options_.stop.iterations) {
        enough();
        ++iterations_;
        return limits_.stopped().value_or(Ended::iteration_limit);
      }
    }
  }

  /// Variables whose gradient outweighs them belong to the bound (lemma 10.6). When these have not
  /// changed since the last look, the equations of the others can be solved at once.
  bool enough() {
    std::vector<Side> side(qp_.size(), Side::inside);
    for (std::size_t v = 0; v < qp_.size(); ++v)
      if (sweep_->at_bound(v)) side[v] = Side::lower;
    const bool same = side == last_side_;
    ActiveSet active_set(qp_, *K_, *kkt_);
    std::vector<double> a = a_;
    for (double& value : a) value = std::max(value, 0.0);
    Polished polished = active_set.polish(std::move(a), {}, side, same ? rounds : 0,
                                          [this] { return within_limits(); });
    if (same) sweep_->refresh();
    last_side_ = std::move(side);
    const Evaluation& now = polished.evaluation;
    best_primal_ = std::min(best_primal_, now.primal);
    best_dual_ = std::max(best_dual_, now.dual);
    looks_without_progress_ =
        now.kkt < progress * best_.evaluation.kkt ? 0 : looks_without_progress_ + 1;
    const bool reached = now.kkt <= options_.stop.kkt &&
                         relative_gap(now.dual + now.gap, now.dual) <= options_.stop.relative_gap;
    if (best_.a.empty() || now.kkt < best_.evaluation.kkt) best_ = std::move(polished);
    return reached;
  }

  bool within_limits() {
    Progress report;
    report.iteration = iterations_;
    report.primal = best_primal_;
    report.dual = best_dual_;
    report.relative_gap = relative_gap(best_primal_, best_dual_);
    report.kkt = best_.evaluation.kkt;
    report.active = report.size = qp_.size();
    return limits_.allow(report);
  }

  Solution finished(Ended ended) {
    Solution solution;
    solution.a = std::move(best_.a);
    solution.ended = ended;
    solution.iterations = iterations_;
    solution.best_dual = best_dual_;
    return solution;
  }

  const DualQp& qp_;
  const Lagrangian& options_;
  const Run& run_;
  Limits limits_;
  std::unique_ptr<PointMatrix> K_;
  std::unique_ptr<ReducedKkt> kkt_;
  std::unique_ptr<Sweep> sweep_;
  std::vector<double> r_, a_;
  std::vector<Side> last_side_;
  Polished best_;
  double best_primal_ = infinity, best_dual_ = -infinity;
  int looks_without_progress_ = 0;
  std::size_t iterations_ = 0;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const Lagrangian& options) {
  if (!qp.A.empty()) return "it takes no equality rows (a bias must be penalised, or absent)";
  for (const Block& block : qp.block)
    if (block.lower != 0 || block.upper != infinity || !(block.curvature > 0))
      return "it needs squared losses: variables from 0 to infinity with a curvature";
  if (qp.K->definite() == Definite::no) return "it needs a positive semi-definite kernel";
  return lacking_memory(*qp.K, MemoryBudget{options.memory_bytes}.one_of_two().bytes);
}

Solution run(const DualQp& qp, const Lagrangian& options, const Run& run) {
  validate(options);
  return Iteration(qp, options, run).solve();
}

}  // namespace maxmargin
