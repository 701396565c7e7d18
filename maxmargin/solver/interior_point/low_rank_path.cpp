#include "maxmargin/solver/interior_point/low_rank_path.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/solver/equations/memory.hpp"
#include "maxmargin/solver/equations/point_matrix.hpp"
#include "maxmargin/solver/limits.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t more_than_estimated = 2, some_columns = 64;
// Where corrections gain nothing Z comes closer, up to what doubles can tell.
constexpr double tightening = 1e-2, least_residual = 1e-12;
constexpr int most_rounds = 12;
// A round has to leave no more of the violation than this.
constexpr double progress = 0.5;
// What the problem over Z Z' is solved to, of what is asked for.
constexpr double inner_share = 0.1;
// Asked for less than so many times the rounding of float kernel values, products are in double.
constexpr double rounding_margin = 8;

class Corrector {
 public:
  Corrector(const DualQp& qp, const InteriorPoint& options, const Run& run)
      : qp_(qp), options_(options), run_(run), limits_(run, options.stop), low_rank_(qp) {}

  Solution solve() {
    for (double residual = options_.low_rank;; residual *= tightening) {
      const bool close = approximate_to(residual);
      best_.ended = correct();
      best_.iterations = iterations_;
      if (best_.ended != Ended::stalled || !close || residual < least_residual)
        return std::move(best_);
    }
  }

 private:
  GoOn go_on() {
    return [this] { return limits_.allow(progress_); };
  }

  /// Whether Z could be made that close to K.
  bool approximate_to(double residual) {
    Approximate how;
    how.selection = Selection::pivoted;
    how.residual = residual;
    how.rank = most_low_rank_columns(qp_.K->size(), options_.memory_bytes);
    // Room is made for all of them at once, and has to be cleared.
    if (const auto needed = estimated_rank(*qp_.K, residual, run_.threads))
      how.rank = std::min(how.rank, more_than_estimated * *needed + some_columns);
    const Approximated low = approximate(*qp_.K, how, run_.threads, go_on());
    Z_ = low.Z;
    low_rank_.K = make_low_rank_quadratic(Z_, run_.costs);
    return !low.residual.empty() && low.residual.back() <= residual * low.trace;
  }

  Ended correct() {
    std::vector<double> start = best_.a.empty() ? run_.start : best_.a;
    double before = infinity;
    for (int round = 0; round < most_rounds; ++round) {
      Solution solution = maxmargin::run(low_rank_, inner_options(), inner_run(std::move(start)));
      iterations_ += solution.iterations;
      const Ended ended = solution.ended;
      start = solution.a;
      const double violation = judge(std::move(solution));
      if (is_enough_) return Ended::converged;
      if (ended != Ended::converged && ended != Ended::stalled) return ended;
      if (!limits_.allow(progress_)) return *limits_.stopped();
      if (!(violation < progress * before)) return Ended::stalled;
      before = violation;
    }
    return Ended::stalled;
  }

  InteriorPoint inner_options() const {
    InteriorPoint options = options_;
    options.low_rank = 0;
    options.stop.kkt *= inner_share;
    options.stop.relative_gap *= inner_share;
    if (options.stop.iterations != Stop{}.iterations)
      options.stop.iterations -= std::min(iterations_, options.stop.iterations);
    return options;
  }

  Run inner_run(std::vector<double> start) const {
    Run inner{run_, std::move(start)};
    inner.seconds_before = run_.seconds_before + clock_.seconds();
    return inner;
  }

  /// How far a solution is from the optimum with K, and what that changes of the next problem.
  double judge(Solution solution) {
    const std::size_t m = qp_.K->size();
    const std::vector<double> beta = qp_.coefficients(solution.a);
    const bool fast = run_.precision == Precision::fast &&
                      rounding_margin * expected_rounding(qp_, solution.a) <= options_.stop.kkt;
    std::vector<double> f(m), near(m);
    qp_.K->multiply(beta, f, fast ? Precision::fast : Precision::exact, run_.threads);
    Z_->spread(Z_->gather(beta, run_.threads), near, run_.threads);
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      const Index i = qp_.row[v];
      low_rank_.block[v].linear = qp_.block[v].linear + qp_.block[v].sign * (f[i] - near[i]);
    }
    Evaluation now = evaluate(qp_, solution.a, f, solution.lambda);
    progress_.primal = now.primal;
    progress_.dual = now.dual;
    progress_.kkt = now.kkt;
    progress_.relative_gap = relative_gap(now.dual + now.gap, now.dual);
    is_enough_ =
        now.kkt <= options_.stop.kkt && progress_.relative_gap <= options_.stop.relative_gap;
    if (now.kkt < kkt_ || best_.a.empty()) {
      kkt_ = now.kkt;
      const double dual = std::max(best_.best_dual, now.dual);
      best_ = std::move(solution);
      best_.lambda = std::move(now.lambda);
      best_.f = std::move(f);
      best_.best_dual = dual;
    }
    return now.kkt;
  }

  const DualQp& qp_;
  const InteriorPoint& options_;
  const Run& run_;
  Limits limits_;
  DualQp low_rank_;  ///< over Z Z'
  std::shared_ptr<const LowRank> Z_;
  Stopwatch clock_;
  Progress progress_;
  Solution best_;
  double kkt_ = infinity;
  bool is_enough_ = false;
  std::size_t iterations_ = 0;
};

}  // namespace

std::size_t most_low_rank_columns(std::size_t points, std::size_t memory_bytes) {
  std::size_t low = 0, high = points / 3;
  while (low < high) {
    const std::size_t middle = high - (high - low) / 2;
    // Z is there twice while it becomes a matrix of its own.
    const std::size_t bytes =
        low_rank_points_bytes(points, middle) + points * middle * sizeof(double);
    if (bytes <= memory_bytes)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

Solution run_low_rank(const DualQp& qp, const InteriorPoint& options, const Run& run) {
  return Corrector(qp, options, run).solve();
}

}  // namespace maxmargin
