#include "maxmargin/solver/hulls/bayes_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/linalg/small.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/hulls/hulls.hpp"
#include "maxmargin/solver/hulls/perceptron.hpp"
#include "maxmargin/solver/standing.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t bounces_before_refresh = 1000;
constexpr double full_circle = 2 * std::numbers::pi;
// Of a point that lies along w little is left along the sphere but the rounding of float rows.
constexpr double least_tangent = 0.1;

/// A vector sum of coefficient_v s_v x_v, and its product with each s_v x_v.
struct Expanded {
  std::vector<double> coefficient, product;

  double length() const { return std::sqrt(dot(coefficient, product)); }
  void multiply_by(double factor) {
    for (double& each : coefficient) each *= factor;
    for (double& each : product) each *= factor;
  }
  void add(const Expanded& other, double factor) {
    for (std::size_t v = 0; v < coefficient.size(); ++v) {
      coefficient[v] += factor * other.coefficient[v];
      product[v] += factor * other.product[v];
    }
  }
};

class Billiard {
 public:
  Billiard(const DualQp& qp, const BayesPoint& options, const Run& run)
      : qp_(qp),
        options_(options),
        run_(run),
        limits_(run, options.stop),
        rng_(options.seed),
        cache_(qp.K, options.cache_bytes, options.cache, run.threads),
        given_(qp.size(), 0.0) {}

  /// `start` separates the classes.
  Solution solve(std::vector<double> start) {
    position_.coefficient = std::move(start);
    for (std::size_t v = 0; v < qp_.size(); ++v) direction_.coefficient.push_back(rng_.normal());
    refresh();
    std::optional<Ended> ended;
    for (;;) {
      ended = ended_by_limits(standing_, qp_.size(), options_.stop, limits_);
      if (ended) break;
      go_on();
    }
    return answer(*ended);
  }

 private:
  void expand(Expanded& vector) const {
    std::vector<double> f(qp_.K->size());
    // Pushes add up to coefficients far larger than what they are the coefficients of.
    qp_.K->multiply(qp_.coefficients(vector.coefficient), f, Precision::exact, run_.threads);
    vector.product.resize(qp_.size());
    for (std::size_t v = 0; v < qp_.size(); ++v)
      vector.product[v] =
          qp_.block[v].sign * f[qp_.row[v]] + qp_.block[v].curvature * vector.coefficient[v];
  }
  /// Against drift: both of length 1, the direction along the sphere.
  void refresh() {
    expand(position_);
    expand(direction_);
    position_.multiply_by(1 / position_.length());
    direction_.add(position_, -dot(direction_.coefficient, position_.product));
    const double length = direction_.length();
    // One point alone: the sphere has no direction.
    direction_.multiply_by(length > 0 ? 1 / length : 0);
  }

  /// On to the next wall, or to the next turn.
  void go_on() {
    double time = until_turn_;
    std::size_t wall = qp_.size();
    for (std::size_t v = 0; v < qp_.size(); ++v) {
      // Of cos t w + sin t direction: the products are 0 at that time; one that rounding has left
      // below 0 leaves its wall.
      const double inside = std::max(position_.product[v], 0.0);
      const double hit = std::atan2(inside, -direction_.product[v]);
      if (hit < time) {
        time = hit;
        wall = v;
      }
    }
    until_turn_ -= time;
    const Expanded before = position_;
    position_.multiply_by(std::cos(time));
    position_.add(direction_, std::sin(time));
    direction_.multiply_by(std::cos(time));
    direction_.add(before, -std::sin(time));
    if (wall < qp_.size())
      bounce(wall);
    else
      turn();
  }

  double square(std::size_t v) const {
    return qp_.K->diagonal()[qp_.row[v]] + qp_.block[v].curvature;
  }
  /// Adds so much of s_v x_v to the direction.
  void push(std::size_t v, double pushed) {
    const double* row = cache_.row(qp_.row[v]);
    direction_.coefficient[v] += pushed;
    for (std::size_t u = 0; u < qp_.size(); ++u)
      direction_.product[u] += pushed * qp_.block[u].sign * qp_.block[v].sign * row[qp_.row[u]];
    direction_.product[v] += pushed * qp_.block[v].curvature;
  }

  void bounce(std::size_t wall) {
    if (++standing_.steps % bounces_before_refresh == 0) refresh();
    const double pushed = -2 * direction_.product[wall] / square(wall);
    if (!(pushed > 0)) return;
    given_[wall] += pushed;
    push(wall, pushed);
  }

  /// Walls at right angles make a ball run in circles. Mirroring its direction now and then, at
  /// times and examples that do not depend on it, leads it out and leaves all directions as likely
  /// as before.
  void turn() {
    until_turn_ = -full_circle * std::log(1 - rng_.uniform());
    const std::size_t v = rng_.below(qp_.size());
    const double across = position_.product[v], tangent = square(v) - across * across;
    if (!(tangent > least_tangent * square(v))) return;
    const double pushed = -2 * direction_.product[v] / tangent;
    push(v, pushed);
    direction_.add(position_, -pushed * across);
  }

  /// As long as is best for the dual.
  Solution answer(Ended ended) {
    Expanded mean{given_, {}};
    expand(mean);
    double linear = 0;
    for (std::size_t v = 0; v < qp_.size(); ++v) linear -= given_[v] * qp_.block[v].linear;
    const double norm = dot(mean.coefficient, mean.product);
    if (norm > 0) mean.multiply_by(linear / norm);
    Solution solution;
    solution.a = std::move(mean.coefficient);
    solution.ended = ended;
    solution.iterations = standing_.steps;
    solution.values_asked = cache_.use().asked;
    solution.values_found = cache_.use().found;
    return solution;
  }

  const DualQp& qp_;
  const BayesPoint& options_;
  const Run& run_;
  Limits limits_;
  Rng rng_;
  // In double: float rows would lead the products away from what the coefficients say, bounce by
  // bounce, and a ball set right again may stand behind a wall.
  ExactValueCache cache_;
  Expanded position_, direction_;
  double until_turn_ = full_circle;
  std::vector<double> given_;  // to the direction, by the bounces at each wall
  Standing standing_;
};

}  // namespace

std::optional<std::string> refuses(const DualQp& qp, const BayesPoint& options) {
  if (!qp.A.empty()) return "it takes no equality row: leave the bias out or penalise it (--bias)";
  if (const auto why = refuses_separation(qp)) return why;
  if (options.stop.iterations == std::numeric_limits<std::size_t>::max())
    return "the Bayes point is not the optimum, so that no gap tells when to stop: give "
           "--max-iterations, the number of bounces";
  return std::nullopt;
}

Solution run(const DualQp& qp, const BayesPoint& options, const Run& context) {
  // Any function that separates the classes is a place to start from.
  MaxMarginPerceptron first;
  first.stop = options.stop;
  first.stop.relative_gap = 0.5;
  first.stop.kkt = infinity;
  first.stop.iterations = std::numeric_limits<std::size_t>::max();
  first.cache_bytes = options.cache_bytes;
  first.cache = options.cache;
  Solution separating = run(qp, first, context);
  if (separating.ended != Ended::converged) return separating;
  return Billiard(qp, options, context).solve(std::move(separating.a));
}

}  // namespace maxmargin
