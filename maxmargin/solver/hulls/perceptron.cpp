#include "maxmargin/solver/hulls/perceptron.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/solver/hulls/hulls.hpp"
#include "maxmargin/solver/standing.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t steps_before_refresh = 10000;
// Of what was asked for, when the answer is judged; less where it was not enough.
constexpr double first_share = 0.5, least_share = 1e-3;
// What steps with rows of floats are known to reach from a point computed in double.
constexpr double least_asked = 1e-6;

class Perceptron {
 public:
  Perceptron(const DualQp& qp, const MaxMarginPerceptron& options, const Run& run)
      : qp_(qp),
        options_(options),
        limits_(run, options.stop),
        hulls_(qp, run.start, options.cache, options.cache_bytes, run.precision, run.threads) {}

  Solution solve() {
    while (!ended_) {
      ended_ = ended_by_limits(standing_, qp_.size(), options_.stop, limits_);
      if (ended_) break;
      const std::vector<Hulls::View> views = hulls_.views();
      if (is_near(views)) {
        check_convergence();
        continue;
      }
      step(views);
      if (++standing_.steps % steps_before_refresh == 0) judge();
    }
    const Ended ended = *ended_;
    judge();
    solution_.ended = ended;
    solution_.iterations = standing_.steps;
    solution_.values_asked = hulls_.use().asked;
    solution_.values_found = hulls_.use().found;
    return std::move(solution_);
  }

 private:
  /// |w|^2 is the sum of the means, and the width of the margin times |w| that of the least.
  bool is_near(const std::vector<Hulls::View>& views) const {
    double square = 0, margin = 0, spread = 0;
    for (const Hulls::View& view : views) {
      square += view.mean;
      margin += view.least;
      spread = std::max(spread, view.most - view.least);
    }
    if (!(square > 0)) return true;  // hulls that meet
    return 2 * (square - margin) <= share_ * options_.stop.relative_gap * square &&
           spread * hulls_.scale() <= share_ * options_.stop.kkt;
  }

  void step(const std::vector<Hulls::View>& views) {
    const bool exchange = options_.hull_step == HullStep::exchange;
    const Hulls::View* best = nullptr;
    bool away = false;
    double most = -infinity;
    for (const Hulls::View& view : views) {
      const double in = (exchange ? view.most : view.mean) - view.least;
      const double out = view.most - view.mean;
      // A hull's point that is a vertex has nothing to go away from.
      const bool prefers_out = !exchange && out > in && hulls_.alpha()[view.far] < 1;
      if (std::max(in, prefers_out ? out : in) <= most) continue;
      most = prefers_out ? out : in;
      away = prefers_out;
      best = &view;
    }
    if (exchange)
      hulls_.exchange(best->far, best->near);
    else if (away)
      hulls_.go_away(best->far);
    else
      hulls_.go_toward(best->near);
  }

  bool judge() {
    hulls_.refresh();
    std::vector<double> a = hulls_.variables();
    const double times = hulls_.scale();
    std::vector<double> f = hulls_.f();
    for (double& each : f) each *= std::isfinite(times) ? times : 1;
    if (has_hard_margin(qp_) && (!std::isfinite(times) || Sizes(qp_, a, f).are_unbounded()) &&
        !ended_)
      ended_ = Ended::unbounded;
    // The sums of the hulls differ by rounding.
    if (auto kept = nearest_feasible(qp_, a)) a = std::move(*kept);
    const Evaluation now = evaluate(qp_, a, f, std::vector<double>(qp_.A.size(), 0.0));
    standing_.primal = std::min(standing_.primal, now.primal);
    standing_.dual = std::max(standing_.dual, now.dual);
    standing_.relative_gap = relative_gap(now.dual + now.gap, now.dual);
    standing_.kkt = now.kkt;
    solution_.a = std::move(a);
    solution_.lambda = now.lambda;
    solution_.best_dual = standing_.dual;
    return standing_.kkt <= options_.stop.kkt &&
           standing_.relative_gap <= options_.stop.relative_gap;
  }

  void check_convergence() {
    const bool enough = judge();
    if (ended_) return;
    if (enough)
      ended_ = Ended::converged;
    else if ((share_ /= 2) < least_share)
      ended_ = Ended::stalled;
  }

  const DualQp& qp_;
  const MaxMarginPerceptron& options_;
  Limits limits_;
  Hulls hulls_;
  double share_ = first_share;
  Standing standing_;
  Solution solution_;
  std::optional<Ended> ended_;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const MaxMarginPerceptron& options) {
  if (const auto why = refuses_separation(qp)) return why;
  if (std::min(options.stop.kkt, options.stop.relative_gap) < least_asked)
    return "steps between hulls reach no further than 1e-6: ask for no less (--tolerance, --gap)";
  return std::nullopt;
}

Solution run(const DualQp& qp, const MaxMarginPerceptron& options, const Run& run) {
  return Perceptron(qp, options, run).solve();
}

}  // namespace maxmargin
