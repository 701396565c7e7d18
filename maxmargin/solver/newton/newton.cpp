#include "maxmargin/solver/newton/newton.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/solver/cached.hpp"
#include "maxmargin/solver/newton/direction.hpp"
#include "maxmargin/solver/newton/reweighted.hpp"
#include "maxmargin/solver/standing.hpp"

namespace maxmargin {
namespace {

constexpr double sufficient = 1e-4, shorter = 0.5;
constexpr int most_halvings = 40, most_steps_a_level = 200;
// Parabolas above a corner make short steps, and many of them; they are worth it where the corner
// is as sharp as what was asked for.
constexpr int most_parabolas = 5000;
constexpr double sharp_share = 0.25;
// Of what was asked for: the certificate also counts what rounding may have changed.
constexpr double enough_share = 0.5;
constexpr double curvature_factor = 0.1, least_curvature = 1e-13;
// A step that promises less than this share of the objective is rounding.
constexpr double step_rounding = 1e-15;
constexpr double least_defect = 1e-13, most_defect = 1e-9;

/// The least that may be asked for, with losses that have no corners and with others: steps on the
/// primal are as good as the rounding of K times the slopes of the losses, and the curvatures of
/// smooth losses near a corner make these large. Parabolas above a corner make short steps too.
struct Reach {
  double smooth, rough;
};
constexpr Reach newton_reach{1e-6, 1e-5}, reweighted_reach{1e-5, 1e-3};

bool has_corner(const Block& block) {
  return block.entropy == Entropy::none && block.curvature == 0;
}

class Newton {
 public:
  Newton(const DualQp& qp, const PrimalNewton& options, Parabola parabola, const Run& run)
      : qp_(qp),
        options_(options),
        parabola_(parabola),
        run_(run),
        limits_(run, options.stop),
        smooth_(qp),
        directions_(qp, options.cache_bytes, static_cast<std::size_t>(options.dense), run.precision,
                    run.threads),
        corners_(std::ranges::any_of(qp.block, has_corner)),
        homogeneous_(is_homogeneous(qp)) {
    double largest = 0;
    for (const double value : qp.K->diagonal()) largest = std::max(largest, value);
    curvature_ = options.first_curvature * (largest > 0 ? largest : 1);
    least_curvature_ = least_curvature * curvature_;
    for (const Block& block : qp.block)
      if (has_corner(block)) largest_cost_ = std::max({largest_cost_, block.upper, -block.lower});
    smooth();
  }

  Solution solve() {
    std::vector<double> a = run_.start;
    if (a.empty())
      for (const Block& block : qp_.block) {
        const double inside = block.lower < 0           ? 0
                              : std::isinf(block.upper) ? block.scale
                                                        : block.upper / 2;
        a.push_back(block.entropy != Entropy::none ? inside
                                                   : std::clamp(0.0, block.lower, block.upper));
      }
    descend_from(a);
    // An exponential loss overflows where its exponent is large, and is finite at f = 0.
    if (!std::ranges::all_of(solution_.a, [](double value) { return std::isfinite(value); }))
      descend_from(std::vector<double>(qp_.size(), 0.0));
    solution_.ended = *ended_;
    solution_.iterations = standing_.steps;
    return std::move(solution_);
  }

 private:
  void descend_from(const std::vector<double>& a) {
    ended_.reset();
    solution_ = {};
    standing_ = {.steps = standing_.steps};
    last_.clear();
    at_ = directions_.from(a, std::vector<double>(qp_.A.size(), 0.0));
    while (!ended_) {
      minimise();
      if (!ended_ || *ended_ == Ended::stalled) check_convergence();
    }
    if (solution_.a.empty()) judge();
  }

  void smooth() {
    if (!corners_) return;
    for (std::size_t v = 0; v < qp_.size(); ++v)
      if (has_corner(qp_.block[v])) smooth_.block[v].curvature = curvature_;
  }

  double losses(const PrimalPoint& at, const PrimalPoint* step, double t) const {
    double sum = 0;
    for (std::size_t r = 0; r < qp_.A.size(); ++r)
      sum += qp_.d[r] * (at.lambda[r] + (step != nullptr ? t * step->lambda[r] : 0));
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      const Index p = qp_.row[v];
      double f = at.f[p], h = 0;
      if (step != nullptr) f += t * step->f[p];
      for (std::size_t r = 0; r < qp_.A.size(); ++r)
        h += qp_.A[r][v] * (at.lambda[r] + (step != nullptr ? t * step->lambda[r] : 0));
      sum += smooth_.block[v].conjugate(-(h + qp_.block[v].sign * f));
    }
    return sum;
  }

  /// The best multipliers of f, which make A a = d.
  void place_rows() {
    if (qp_.A.empty()) return;
    const std::vector<double> a = dual_point(smooth_, at_).a;
    at_.lambda = evaluate(smooth_, a, at_.f, at_.lambda).lambda;
  }

  /// The smooth problem, by Newton steps with a line search.
  void minimise() {
    const bool is_sharp = curvature_ * largest_cost_ <= sharp_share * options_.stop.kkt;
    const int most =
        parabola_ == Parabola::chord && corners_ && is_sharp ? most_parabolas : most_steps_a_level;
    for (int n = 0; n < most && !ended_; ++n) {
      ended_ = ended_by_limits(standing_, qp_.size(), options_.stop, limits_);
      if (ended_) return;
      place_rows();
      const DualPoint dual = dual_point(smooth_, at_, parabola_);
      const PrimalPoint step = directions_.newton(smooth_, at_, dual);
      ++standing_.steps;
      const double norm = directions_.product(at_, at_), along = directions_.product(at_, step),
                   square = directions_.product(step, step);
      const double now = norm / 2 + losses(at_, nullptr, 0);
      double slope = along;
      for (std::size_t r = 0; r < qp_.A.size(); ++r) slope += qp_.d[r] * step.lambda[r];
      for (std::size_t v = 0; v < qp_.size(); ++v) {
        double h = qp_.block[v].sign * step.f[qp_.row[v]];
        for (std::size_t r = 0; r < qp_.A.size(); ++r) h += qp_.A[r][v] * step.lambda[r];
        slope -= dual.a[v] * h;
      }
      if (!(slope < -step_rounding * std::abs(now))) {
        last_ = step.a;
        return;
      }
      double t = 1, next = 0;
      int halvings = 0;
      for (;; t *= shorter) {
        next = norm / 2 + t * along + t * t * square / 2 + losses(at_, &step, t);
        if (next <= now + sufficient * t * slope || ++halvings > most_halvings) break;
      }
      if (halvings > most_halvings) return;
      for (std::size_t i = 0; i < step.coefficients.size(); ++i)
        at_.coefficients[i] += t * step.coefficients[i];
      for (std::size_t i = 0; i < step.f.size(); ++i) at_.f[i] += t * step.f[i];
      for (std::size_t r = 0; r < step.lambda.size(); ++r) at_.lambda[r] += t * step.lambda[r];
      if (t == 1) last_ = step.a;
      // What is left is as small as what a full step leaves of a parabola.
      if (!corners_ && -slope < 0.01 * options_.stop.relative_gap * std::abs(now) && enough())
        return;
      if (n % most_steps_a_level == most_steps_a_level - 1 && enough()) return;
    }
  }

  /// The dual point and its certificate by the problem as given: that of the gradient, or that of
  /// the last system, whichever is better.
  void judge() {
    place_rows();
    judge(dual_point(smooth_, at_).a);
    if (!last_.empty()) judge(last_);
  }
  void judge(std::vector<double> a) {
    if (equality_defect(qp_, a) > least_defect)
      if (auto kept = nearest_feasible(qp_, a)) a = std::move(*kept);
    const PrimalPoint own = directions_.from(a, at_.lambda);
    Evaluation now = evaluate(qp_, a, own.f, at_.lambda);
    // Rows that contradict each other leave no dual point.
    if (equality_defect(qp_, a) > most_defect) now.kkt = now.gap = infinity;
    standing_.primal = std::min(standing_.primal, now.primal);
    if (now.gap < infinity) standing_.dual = std::max(standing_.dual, now.dual);
    const double gap = relative_gap(now.dual + now.gap, now.dual);
    if (!solution_.a.empty() &&
        !(std::max(now.kkt / options_.stop.kkt, gap / options_.stop.relative_gap) <
          std::max(standing_.kkt / options_.stop.kkt,
                   standing_.relative_gap / options_.stop.relative_gap)))
      return;
    standing_.relative_gap = gap;
    standing_.kkt = now.kkt;
    no_margin_ = homogeneous_ && Sizes(qp_, a, own.f).are_of_no_margin();
    solution_.a = std::move(a);
    solution_.lambda = now.lambda;
    solution_.best_dual = standing_.dual;
  }
  bool enough() {
    judge();
    return has_reached(enough_share);
  }
  bool has_reached(double share) const {
    return standing_.kkt <= share * options_.stop.kkt &&
           standing_.relative_gap <= share * options_.stop.relative_gap;
  }

  void check_convergence() {
    if (enough()) {
      ended_ = Ended::converged;
    } else if (corners_ && curvature_ > least_curvature_) {
      curvature_ *= curvature_factor;
      smooth();
      ended_.reset();
    } else if (has_reached(1)) {
      ended_ = Ended::converged;
    } else if (no_margin_) {
      ended_ = Ended::unbounded;
    } else {
      // Products in float may allow for no less: whether it is enough is judged in double.
      const bool near =
          standing_.kkt <= 100 * options_.stop.kkt && run_.precision == Precision::fast;
      ended_ = near ? Ended::converged : Ended::stalled;
    }
  }

  const DualQp& qp_;
  const PrimalNewton options_;
  Parabola parabola_;
  const Run& run_;
  Limits limits_;
  DualQp smooth_;
  Directions directions_;
  bool corners_, homogeneous_, no_margin_ = false;
  double curvature_ = 0, least_curvature_ = 0, largest_cost_ = 0;
  PrimalPoint at_;
  Solution solution_;
  std::optional<Ended> ended_;
  Standing standing_;
  std::vector<double> last_;  // the variables at the end of the last full step
};

std::string power_of_ten(double value) {
  return "1e" + std::to_string(std::lround(std::log10(value)));
}

std::optional<std::string> refuses_primal(const DualQp& qp, const Stop& stop, const Reach& reach) {
  if (qp.K->definite() == Definite::no)
    return "it needs a positive semi-definite kernel, whose primal is convex";
  if (has_hard_margin(qp))
    return "a hard margin has no loss to differentiate: give a --cost instead";
  const double asked = std::min(stop.kkt, stop.relative_gap);
  if (std::ranges::any_of(qp.block, has_corner) && asked < reach.rough)
    return "a loss with corners is solved by smooth ones close to it: ask for no less than " +
           power_of_ten(reach.rough) + " (--tolerance, --gap), or take a loss without corners";
  if (asked < reach.smooth)
    return "steps on the primal reach no further than " + power_of_ten(reach.smooth) +
           ": ask for no less (--tolerance, --gap)";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const PrimalNewton& options) {
  return refuses_primal(qp, options.stop, newton_reach);
}
std::optional<std::string> refuses(const DualQp& qp, const ReweightedLeastSquares& options) {
  return refuses_primal(qp, options.stop, reweighted_reach);
}

namespace {

/// Kernel values in one half of the memory, the system of a step in the other, with what OpenBLAS
/// takes for itself.
Solution run_in_halves(const DualQp& qp, PrimalNewton options, Parabola parabola, const Run& run) {
  options.cache_bytes = MemoryBudget{options.cache_bytes}.one_of_two().bytes;
  return run_cached(qp, options.cache, options.cache_bytes, run.threads, [&](const DualQp& cached) {
    return Newton(cached, options, parabola, run).solve();
  });
}

}  // namespace

Solution run(const DualQp& qp, const PrimalNewton& options, const Run& run) {
  return run_in_halves(qp, options, Parabola::tangent, run);
}
Solution run(const DualQp& qp, const ReweightedLeastSquares& options, const Run& run) {
  PrimalNewton same{options.stop, options.cache_bytes, options.dense};
  same.cache = options.cache;
  return run_in_halves(qp, same, Parabola::chord, run);
}

}  // namespace maxmargin
