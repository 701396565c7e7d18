#include "maxmargin/structured/plane_problem.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/linalg/small.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t truth = static_cast<std::size_t>(-1);

struct Pair {
  std::size_t up = truth, down = truth;
  double violation = 0;
};

/// The most violating pair: alpha moves from `down`, which has some, to `up`.
Pair most_violating_pair(const PlaneProblem& p, double left) {
  Pair pair;
  double most = 0, least = left > 0 ? 0 : infinity;
  for (std::size_t k = 0; k < p.s.size(); ++k) {
    if (p.s[k] > most) {
      most = p.s[k];
      pair.up = k;
    }
    if (p.alpha[k] > 0 && p.s[k] < least) {
      least = p.s[k];
      pair.down = k;
    }
  }
  pair.violation = least == infinity ? 0 : most - least;
  return pair;
}

class PairSteps {
 public:
  explicit PairSteps(PlaneProblem& p) : p_(p), size_(p.s.size()), zeros_(size_, 0.0) {
    double used = 0;
    for (const double a : p.alpha) used += a;
    left_ = p.capacity == infinity ? infinity : std::max(0.0, p.capacity - used);
  }

  Pair worst() const { return most_violating_pair(p_, left_); }

  /// The pair step; false where it has no bound, as the dual has no maximum.
  bool move(const Pair& pair) {
    const auto [up, down, violation] = pair;
    const double curvature = at(up, up) + at(down, down) - 2 * at(up, down);
    const double room = down == truth ? left_ : p_.alpha[down];
    const double t = curvature > 0 ? std::min(room, violation / curvature) : room;
    if (t == infinity) return false;
    if (up == truth)
      left_ += t;
    else
      p_.alpha[up] += t;
    double& giver = down == truth ? left_ : p_.alpha[down];
    giver = t == room ? 0 : giver - t;
    // Rows of G, which is symmetric.
    const double* grows = row(up);
    const double* shrinks = row(down);
    const double shift = (up == truth ? 0 : p_.curvature) - (down == truth ? 0 : p_.curvature);
    for (std::size_t k = 0; k < size_; ++k) p_.s[k] -= t * (grows[k] - shrinks[k] + shift);
    return true;
  }

  /// A Newton step over the planes with alpha > 0, cut where the first alpha becomes 0. Pairs alone
  /// converge slowly where planes are nearly equal.
  void newton_step() {
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < size_; ++k)
      if (p_.alpha[k] > 0) free.push_back(k);
    // The sum is fixed: it is the truth that balances it, or the first plane where the truth has
    // none.
    const std::size_t giver = left_ > 0 || free.empty() ? truth : free.front();
    if (giver != truth) free.erase(free.begin());
    if (free.empty()) return;
    const double s_giver = giver == truth ? 0 : p_.s[giver];
    SmallMatrix M(free.size());
    std::vector<double> r;
    for (std::size_t k = 0; k < free.size(); ++k) {
      r.push_back(p_.s[free[k]] - s_giver);
      for (std::size_t l = 0; l <= k; ++l)
        M(k, l) = at(free[k], free[l]) - at(free[k], giver) - at(giver, free[l]) + at(giver, giver);
    }
    const std::vector<double> step = solve_cholesky(std::move(M), std::move(r), 1e-13);
    double sum = 0, t = 1;
    std::size_t limiting = truth;
    const auto limit = [&](double value, double change, std::size_t who) {
      if (change < 0 && -value / change < t) {
        t = -value / change;
        limiting = who;
      }
    };
    for (std::size_t k = 0; k < free.size(); ++k) {
      sum += step[k];
      limit(p_.alpha[free[k]], step[k], free[k]);
    }
    double& source = giver == truth ? left_ : p_.alpha[giver];
    limit(source, -sum, giver);
    if (!(t > 0) || !std::isfinite(t * sum)) return;
    for (std::size_t k = 0; k < free.size(); ++k)
      p_.alpha[free[k]] = std::max(0.0, p_.alpha[free[k]] + t * step[k]);
    source = std::max(0.0, source - t * sum);
    if (t < 1) (limiting == truth ? source : p_.alpha[limiting]) = 0;
    for (std::size_t k = 0; k < size_; ++k)
      for (std::size_t l = 0; l < free.size(); ++l)
        p_.s[k] -= t * step[l] * (at(k, free[l]) - at(k, giver));
  }

 private:
  double at(std::size_t k, std::size_t l) const {
    return k == truth || l == truth ? 0.0 : p_.G[k * size_ + l] + p_.curvature;
  }

  const double* row(std::size_t k) const {
    return k == truth ? zeros_.data() : p_.G.data() + k * size_;
  }

  PlaneProblem& p_;
  std::size_t size_;
  std::vector<double> zeros_;
  double left_ = 0;  ///< the truth's alpha, U - sum a
};

}  // namespace

double solve_by_pairs(PlaneProblem& p, double share, std::size_t most_steps) {
  PairSteps steps(p);
  const std::size_t pairs_between = 10 + 2 * p.s.size();
  double first = 0;
  for (std::size_t step = 0; step < most_steps; ++step) {
    const Pair pair = steps.worst();
    if (step == 0) first = pair.violation;
    if (pair.violation <= (step == 0 ? 0 : share * first) || pair.up == pair.down) break;
    if (!steps.move(pair)) break;
    if ((step + 1) % pairs_between == 0) steps.newton_step();
  }
  return first;
}

}  // namespace maxmargin
