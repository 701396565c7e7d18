#include "maxmargin/structured/plane_problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/linalg/small.hpp"
#include "maxmargin/solver/equations/free_in_groups.hpp"

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
    BoundedPoint start;
    for (const double a : p_.alpha) start.add(a, 0, infinity);
    start.add(left_, 0, infinity);  // the truth: the sum of all is fixed
    FreeInGroups free(std::move(start), size_ + 1);
    if (free.size() == 0) return;
    SmallMatrix M(free.size());
    constexpr double one = 1;
    free.put_matrix([&](std::size_t) { return &one; },
                    [&](std::size_t k, std::size_t l) { return at(k, l); },
                    [&](std::size_t r) { return &M(r, 0); });
    std::vector<double> r =
        free.right_sides([&](std::size_t, std::size_t k) { return k < size_ ? p_.s[k] : 0.0; });
    const std::vector<double> direction =
        free.direction(solve_cholesky(std::move(M), std::move(r), 1e-13));
    const double length = free.reach(direction);
    const bool sound =
        std::ranges::all_of(direction, [](double each) { return std::isfinite(each); });
    if (!(length > 0) || !sound) return;
    free.move(direction, length);
    std::copy_n(free.point().x.begin(), size_, p_.alpha.begin());
    left_ = free.point().x.back();
    for (std::size_t l = 0; l < size_; ++l)
      if (const double by = length * direction[l]; by != 0)
        for (std::size_t k = 0; k < size_; ++k) p_.s[k] -= by * at(l, k);
  }

 private:
  double at(std::size_t k, std::size_t l) const {
    return k >= size_ || l >= size_ ? 0.0 : p_.G[k * size_ + l] + p_.curvature;
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
