#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/margin.hpp"
#include "maxmargin/problem/nearest_to_zero.hpp"
#include "maxmargin/solver/cached.hpp"
#include "maxmargin/solver/gradient_descent/gradient_descent.hpp"
#include "maxmargin/solver/standing.hpp"

namespace maxmargin {
namespace {

// Of the room of a variable: how far from a bound its mean may be and belong there.
constexpr double near_bound = 0.1;
// Variables without bounds: one draw may send them far, and the next one farther. They go as far as
// so many times what the largest of them is at f = 0.
constexpr double most_of_first = 4;
// What an average of noisy gradients can tell.
constexpr double least_sampled_gap = 1e-3;
constexpr std::size_t epochs_without_progress = 50;

class Epochs {
 public:
  Epochs(const DualQp& qp, const Stochastic& options, const Run& run)
      : qp_(qp),
        options_(options),
        run_(run),
        limits_(run, options.stop),
        rng_(options.seed),
        sum_(qp.size(), 0.0),
        f_(qp.K->size(), 0.0) {
    order_.resize(qp.size());
    std::iota(order_.begin(), order_.end(), Index{0});
    double largest = 0;
    for (const Block& block : qp.block) {
      if (!std::isinf(block.upper) && !std::isinf(block.lower)) continue;
      largest = std::max(largest, std::abs(block.argmax(0)));
    }
    if (largest > 0) most_ = most_of_first * largest;
  }

  Solution solve() {
    const std::size_t n = qp_.size();
    const auto batch = std::min(static_cast<std::size_t>(options_.batch), n);
    while (!ended_) {
      for (std::size_t k = n; k > 1; --k) std::swap(order_[k - 1], order_[rng_.below(k)]);
      for (std::size_t begin = 0; begin < n && !ended_; begin += batch) {
        ended_ = ended_by_limits(standing_, qp_.size(), options_.stop, limits_);
        if (ended_) break;
        draw(std::span(order_).subspan(begin, std::min(batch, n - begin)));
      }
      if (ended_) break;
      ++epochs_;
      judge();
    }
    if (epochs_ == 0 || solution_.a.empty()) start_anew();
    solution_.ended = *ended_;
    solution_.iterations = standing_.steps;
    return std::move(solution_);
  }

 private:
  /// f is the mean of all draws, each as if the few were all: (n / few) sum of s a k(x, .).
  void draw(std::span<const Index> few) {
    std::vector<Index> points;
    std::vector<double> coefficient;
    const double share = static_cast<double>(few.size()) / static_cast<double>(qp_.size());
    const double length = share / (weight_ + share);
    for (const Index v : few) {
      const Block& block = qp_.block[v];
      const double a = std::clamp(block.argmax(-block.sign * f_[qp_.row[v]]), -most_, most_);
      sum_[v] += a;
      if (a == 0) continue;
      points.push_back(qp_.row[v]);
      coefficient.push_back(length * block.sign * a / share);
    }
    for (double& each : f_) each *= 1 - length;
    if (!points.empty()) qp_.K->add_product(points, coefficient, f_, run_.threads);
    weight_ += share;
    ++standing_.steps;
  }

  std::vector<double> mean() const {
    std::vector<double> a = sum_;
    for (std::size_t v = 0; v < a.size(); ++v)
      a[v] =
          std::clamp(a[v] / static_cast<double>(epochs_), qp_.block[v].lower, qp_.block[v].upper);
    return a;
  }

  void judge() {
    const std::vector<double> a = mean();
    // Against drift, and the rounding of the steps.
    qp_.K->multiply(qp_.coefficients(a), f_, run_.precision, run_.threads);
    const Evaluation now = evaluate(qp_, a, f_, {});
    standing_.primal = std::min(standing_.primal, now.primal);
    standing_.dual = std::max(standing_.dual, now.dual);
    standing_.relative_gap = relative_gap(now.dual + now.gap, now.dual);
    standing_.kkt = now.kkt;
    solution_.a = a;
    solution_.best_dual = standing_.dual;
    if (standing_.relative_gap <= options_.stop.relative_gap &&
        (standing_.kkt <= options_.stop.kkt || settles()))
      ended_ = Ended::converged;
    watch(now.gap);
    // The first epochs start from f = 0 and weigh ever less: they are left out when as many again
    // have been made.
    if ((made_ & (made_ - 1)) == 0 && made_ > 1 && !ended_) forget();
  }
  /// A mean keeps a little of what a variable was once: those that have almost come to the bound
  /// that their gradient points to, or that it points to more than is allowed, are put there.
  /// Whether that is good enough.
  bool settles() {
    std::vector<double> a = solution_.a, f(f_.size());
    double largest = 0;
    for (const double each : a) largest = std::max(largest, std::abs(each));
    for (std::size_t v = 0; v < a.size(); ++v) {
      const Block& block = qp_.block[v];
      const double h = block.sign * f_[qp_.row[v]], goal = block.argmax(-h);
      if (goal != block.lower && goal != block.upper) continue;
      const double width = std::min(block.upper - block.lower, largest);
      if (std::abs(a[v] - goal) <= near_bound * width ||
          2 * std::abs(h + block.slope(a[v])) > options_.stop.kkt / 2)
        a[v] = goal;
    }
    qp_.K->multiply(qp_.coefficients(a), f, run_.precision, run_.threads);
    const Evaluation then = evaluate(qp_, a, f, {});
    if (!(then.kkt <= options_.stop.kkt &&
          relative_gap(then.dual + then.gap, then.dual) <= options_.stop.relative_gap))
      return false;
    solution_.a = std::move(a);
    standing_.kkt = then.kkt;
    return true;
  }

  /// The gap should halve when the epochs double; where it does not nobody waits.
  void watch(double gap) {
    ++made_;
    if (gap <= marked_gap_ / 2) {
      marked_gap_ = gap;
      marked_epoch_ = made_;
    }
    if (!ended_ && (made_ > 5 * marked_epoch_ + epochs_without_progress ||
                    standing_.relative_gap < 0.1 * options_.stop.relative_gap))
      ended_ = Ended::stalled;
  }
  void forget() {
    const std::vector<double> a = mean();
    sum_ = a;
    epochs_ = 1;
    weight_ = 1;
  }
  void start_anew() { solution_.a = nearest_to_zero(qp_); }

  const DualQp& qp_;
  const Stochastic& options_;
  const Run& run_;
  Limits limits_;
  Rng rng_;
  std::vector<double> sum_;  // of each variable over the epochs
  std::vector<double> f_;
  std::vector<Index> order_;
  double most_ = infinity;  // of a variable without bounds
  double weight_ = 0;       // epochs, with the part of the present one
  Solution solution_;
  std::optional<Ended> ended_;
  Standing standing_;  // a step is a draw
  std::size_t epochs_ = 0, made_ = 0, marked_epoch_ = 0;
  double marked_gap_ = infinity;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const Stochastic& options) {
  if (!qp.A.empty()) return "it takes no equality row: leave the bias out or penalise it (--bias)";
  if (qp.K->definite() == Definite::no)
    return "it needs a positive semi-definite kernel, whose primal is convex";
  if (has_hard_margin(qp)) return "a hard margin has no loss to differentiate: give a --cost";
  if (std::min(options.stop.kkt, options.stop.relative_gap) < least_sampled_gap)
    return "means of random gradients have few digits: ask for no less than 1e-3 (--tolerance, "
           "--gap)";
  return std::nullopt;
}

Solution run(const DualQp& qp, const Stochastic& options, const Run& run) {
  return run_cached(qp, options.cache, options.cache_bytes, run.threads,
                    [&](const DualQp& cached) { return Epochs(cached, options, run).solve(); });
}

}  // namespace maxmargin
