#include "maxmargin/solver/gradient_descent/gradient_descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "maxmargin/linalg/small.hpp"
#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/solver/cached.hpp"
#include "maxmargin/solver/gradient_descent/regulariser.hpp"
#include "maxmargin/solver/standing.hpp"

namespace maxmargin {
namespace {

// Smooth losses close to one with corners have a large curvature, and descent along gradients is
// slow then: nobody waits for less.
constexpr double least_rough_gap = 1e-4;
constexpr double curvature_factor = 0.1, least_curvature = 1e-8;
constexpr double least_defect = 1e-13, most_defect = 1e-9;
constexpr std::size_t steps_without_progress = 500;
constexpr int most_halvings = 100;
// Added to K where the values of f are to move freely, a share of the largest K(x, x): directions
// in which K is smaller than that are hardly in its range.
constexpr double values_ridge = 1e-3;
constexpr std::size_t factored_at_once = 64;

bool is_corner(const Block& block) {
  return block.entropy == Entropy::none && block.curvature == 0;
}

class Descent {
 public:
  Descent(const DualQp& qp, const GradientDescent& options, const Run& run)
      : qp_(qp),
        options_(options),
        run_(run),
        limits_(run, options.stop),
        factor_(options.space == GradientSpace::values ? qp.K->size() : 0),
        smooth_(qp),
        corners_(std::ranges::any_of(qp.block, is_corner)),
        beta_(qp.K->size(), 0.0),
        f_(qp.K->size(), 0.0),
        lambda_(qp.A.size(), 0.0) {
    double largest = 0;
    for (const double value : qp.K->diagonal()) largest = std::max(largest, value);
    curvature_ = largest > 0 ? largest : 1;
    least_curvature_ = least_curvature * curvature_;
    if (options.space == GradientSpace::values) factor(values_ridge * curvature_);
    smooth();
    if (run.start.empty()) return;
    beta_ = qp.coefficients(run.start);
    f_ = run.start_f.empty() ? multiply(beta_) : run.start_f;
  }

  Solution solve() {
    while (!ended_) {
      ended_ = ended_by_limits(standing_, qp_.size(), options_.stop, limits_);
      if (ended_) break;
      step_down();
      ++standing_.steps;
    }
    const Ended ended = *ended_;
    if (solution_.a.empty()) judge(dual_point());
    solution_.ended = ended;
    solution_.iterations = standing_.steps;
    return std::move(solution_);
  }

 private:
  std::vector<double> multiply(std::span<const double> x) const {
    std::vector<double> y(x.size());
    qp_.K->multiply(x, y, run_.precision, run_.threads);
    return y;
  }

  std::vector<double> dual_point() const {
    std::vector<double> a(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      double h = qp_.block[v].sign * f_[qp_.row[v]];
      for (std::size_t r = 0; r < lambda_.size(); ++r) h += qp_.A[r][v] * lambda_[r];
      a[v] = smooth_.block[v].argmax(-h);
    }
    return a;
  }
  /// The multipliers that are best for f.
  void place_rows() {
    if (qp_.A.empty()) return;
    lambda_ = evaluate(smooth_, dual_point(), f_, lambda_).lambda;
  }
  std::vector<double> feasible(std::vector<double> a) const {
    if (equality_defect(qp_, a) > least_defect)
      if (auto kept = nearest_feasible(qp_, a)) return *kept;
    return a;
  }

  /// Losses with a derivative: along the gradient, conjugate to the directions before.
  void step_down() {
    place_rows();
    const std::vector<double> a = dual_point();
    std::vector<double> gradient = beta_;
    for (std::size_t v = 0; v < qp_.size(); ++v) gradient[qp_.row[v]] -= qp_.block[v].sign * a[v];
    std::vector<double> product = multiply(gradient);
    // Theorem 10.5: no more than this above the optimum.
    const double bound = dot(gradient, product) / 2;
    const double enough = (corners_ ? 0.1 : 1) * options_.stop.relative_gap * size_;
    // The f of the dual point differs from f by K times the gradient.
    double largest = 0;
    for (const double each : product) largest = std::max(largest, std::abs(each));
    const bool near = bound <= enough && largest <= options_.stop.kkt / 4;
    if (near || is_idle(bound) || standing_.steps == 0) {
      const double before = curvature_;
      check_convergence(a);
      if (ended_ || curvature_ != before) return;
    }
    const std::vector<double> steepest = in_space(gradient, product);
    if (options_.space != GradientSpace::function) product = multiply(steepest);
    const double square = dot(gradient, product);
    const double overlap = last_.empty() ? 0 : dot(last_, product);
    const double factor =
        options_.conjugate && !last_.empty() ? std::max(0.0, (square - overlap) / last_square_) : 0;
    direction_.resize(f_.size(), 0.0);
    direction_f_.resize(f_.size(), 0.0);
    for (std::size_t p = 0; p < f_.size(); ++p) {
      direction_[p] = factor * direction_[p] - steepest[p];
      direction_f_[p] = factor * direction_f_[p] - product[p];
    }
    last_ = std::move(gradient);
    last_square_ = square;
    if (!(derivative(0) < 0)) {  // no descent: begin anew
      for (std::size_t p = 0; p < f_.size(); ++p) {
        direction_[p] = -steepest[p];
        direction_f_[p] = -product[p];
      }
    }
    const double t = line_search();
    for (std::size_t p = 0; p < f_.size(); ++p) {
      beta_[p] += t * direction_[p];
      f_[p] += t * direction_f_[p];
    }
  }

  /// The coefficients of the steepest ascent, of a gradient in f and K times it.
  std::vector<double> in_space(const std::vector<double>& gradient,
                               const std::vector<double>& product) const {
    if (options_.space == GradientSpace::coefficient) return product;
    std::vector<double> moved = gradient;
    if (options_.space == GradientSpace::values) factor_.solve(moved.data(), 1, run_.threads);
    return moved;
  }
  /// K + ridge, once: the values of f move along d when the coefficients move along K^-1 d.
  void factor(double ridge) {
    factor_.require_cholesky([&] { fill_with_kernel(ridge); }, run_.threads);
  }
  void fill_with_kernel(double ridge) {
    const std::size_t m = qp_.K->size();
    std::vector<double> values(factored_at_once * m);
    std::vector<Index> which;
    for (std::size_t begin = 0; begin < m; begin += which.size()) {
      which.resize(std::min(factored_at_once, m - begin));
      std::iota(which.begin(), which.end(), static_cast<Index>(begin));
      const std::size_t end = begin + which.size();
      qp_.K->exact_block(which, 0, end, values.data(), end);
      for (std::size_t i = begin; i < end; ++i) {
        std::copy_n(values.data() + (i - begin) * end, i + 1, factor_.matrix().row(i));
        factor_.matrix().row(i)[i] += ridge;
      }
    }
  }

  /// Of the primal along the direction, lambda as it is.
  double derivative(double t) const {
    double sum = dot(beta_, direction_f_) + t * dot(direction_, direction_f_);
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      const Index p = qp_.row[v];
      double h = qp_.block[v].sign * (f_[p] + t * direction_f_[p]);
      for (std::size_t r = 0; r < lambda_.size(); ++r) h += qp_.A[r][v] * lambda_[r];
      sum -= smooth_.block[v].argmax(-h) * qp_.block[v].sign * direction_f_[p];
    }
    return sum;
  }

  /// The zero of the derivative, which grows, by secants kept between two ends.
  double line_search() const {
    double low = 0, high = 1, at_low = derivative(0), at_high = derivative(1);
    if (!(at_low < 0)) return 0;
    for (int n = 0; at_high < 0 && n < most_halvings; ++n) {
      low = high;
      at_low = at_high;
      high *= 2;
      at_high = derivative(high);
    }
    const double enough = 1e-10 * std::abs(at_low);
    for (int n = 0; n < most_halvings && high - low > 1e-15 * high; ++n) {
      double t = low - at_low * (high - low) / (at_high - at_low);
      if (n % 3 == 2 || !(t > low && t < high)) t = low + (high - low) / 2;
      const double here = derivative(t);
      if (std::abs(here) <= enough) return t;
      (here < 0 ? low : high) = t;
      (here < 0 ? at_low : at_high) = here;
    }
    return low + (high - low) / 2;
  }

  void judge(std::vector<double> a) {
    a = feasible(std::move(a));
    const std::vector<double> own = multiply(qp_.coefficients(a));
    Evaluation now = evaluate(qp_, a, own, lambda_);
    // Rows that contradict each other leave no dual point.
    if (equality_defect(qp_, a) > most_defect) now.kkt = now.gap = infinity;
    take(now, a);
  }

  /// Keeps the best answer; whether the run ends with this one.
  bool take(const Evaluation& now, const std::vector<double>& a) {
    standing_.primal = std::min(standing_.primal, now.primal);
    if (now.gap < infinity) standing_.dual = std::max(standing_.dual, now.dual);
    size_ = std::abs(now.dual);
    const double gap = relative_gap(now.dual + now.gap, now.dual);
    if (solution_.a.empty() || gap < standing_.relative_gap) {
      standing_.relative_gap = gap;
      standing_.kkt = now.kkt;
      solution_.a = a;
      solution_.lambda = now.lambda;
    }
    solution_.best_dual = standing_.dual;
    const bool near = now.kkt <= options_.stop.kkt && gap <= options_.stop.relative_gap;
    if (near) {
      solution_.a = a;
      solution_.lambda = now.lambda;
      ended_ = Ended::converged;
    }
    return near;
  }

  /// The smooth problem is solved, or rounding is in the way.
  void check_convergence(const std::vector<double>& a) {
    judge(a);
    if (ended_) return;
    if (corners_ && curvature_ > least_curvature_) {
      curvature_ *= curvature_factor;
      smooth();
      return;
    }
    const bool near = standing_.kkt <= 100 * options_.stop.kkt && run_.precision == Precision::fast;
    if (idle_ > steps_without_progress) ended_ = near ? Ended::converged : Ended::stalled;
  }
  void smooth() {
    for (std::size_t v = 0; v < qp_.size(); ++v)
      if (is_corner(qp_.block[v])) smooth_.block[v].curvature = curvature_;
    last_.clear();
    least_bound_ = infinity;
    idle_ = 0;
  }

  bool is_idle(double bound) {
    if (bound < 0.99 * least_bound_) {
      least_bound_ = bound;
      idle_ = 0;
      return false;
    }
    return ++idle_ > steps_without_progress;
  }

  const DualQp& qp_;
  const GradientDescent& options_;
  const Run& run_;
  Limits limits_;
  Factor factor_;  // of K with a ridge, in the space of the values of f
  DualQp smooth_;  // the problem, losses with corners replaced by smooth ones
  bool corners_;
  double curvature_ = 0, least_curvature_ = 0;
  std::vector<double> beta_, f_, lambda_;
  std::vector<double> direction_, direction_f_, last_;
  double last_square_ = 1, least_bound_ = infinity, size_ = 0;
  Solution solution_;
  std::optional<Ended> ended_;
  std::size_t idle_ = 0;
  Standing standing_;
};

std::optional<std::string> refuses_descent(const DualQp& qp) {
  if (qp.K->definite() == Definite::no)
    return "it needs a positive semi-definite kernel, whose primal is convex";
  if (has_hard_margin(qp)) return "a hard margin has no loss to differentiate: give a --cost";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const GradientDescent& options) {
  if (const auto why = refuses_descent(qp)) return why;
  if (options.regulariser != Regulariser::standard) {
    if (options.stop.iterations == std::numeric_limits<std::size_t>::max() &&
        std::isinf(options.stop.seconds))
      return "the regulariser " + std::string(to_string(options.regulariser)) +
             " has no stopping rule (theorem 10.5 is about 1/2 |f|^2): give --max-iterations or "
             "--time-limit";
    return std::nullopt;
  }
  if (options.space == GradientSpace::values &&
      SymmetricMatrix::bytes(qp.K->size()) > options.cache_bytes)
    return "the space of the values of f needs factors of all of K, for which there is not enough "
           "--memory: take --space function";
  const bool corners = std::ranges::any_of(qp.block, is_corner);
  if (corners && options.space != GradientSpace::function)
    return "a loss with corners has no derivative there, and smooth ones close to it take too many "
           "steps in this space: take --space function, or a loss without corners";
  if (corners && std::min(options.stop.kkt, options.stop.relative_gap) < least_rough_gap)
    return "a loss with corners has no derivative there, and smooth ones close to it make it slow: "
           "ask for no less than 1e-4 (--tolerance, --gap), or take a loss without corners";
  return std::nullopt;
}

Solution run(const DualQp& qp, const GradientDescent& options, const Run& run) {
  return run_cached(qp, options.cache, options.cache_bytes, run.threads, [&](const DualQp& cached) {
    return options.regulariser == Regulariser::standard ? Descent(cached, options, run).solve()
                                                        : run_regularised(cached, options, run);
  });
}

}  // namespace maxmargin
