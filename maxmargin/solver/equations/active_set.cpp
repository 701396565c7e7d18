#include "maxmargin/solver/equations/active_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace maxmargin {
namespace {

// Added to the curvature of every variable: keeps singular equations solvable. What it changes is
// taken back by solving again for the rest.
constexpr double softening = 1e-9;
constexpr int corrections = 4;

/// A step that an entropy does not let beyond its bounds.
void move(double& a, double step, const Block& block) {
  if (block.entropy != Entropy::none)
    step = std::clamp(step, 0.9 * (block.lower - a), 0.9 * (block.upper - a));
  a += step;
}

/// The largest term of each row: what its rounding is relative to.
std::vector<double> row_sizes(const DualQp& qp, std::span<const double> a) {
  std::vector<double> size(qp.A.size());
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    size[r] = std::abs(qp.d[r]);
    for (std::size_t v = 0; v < qp.size(); ++v) size[r] += std::abs(qp.A[r][v] * a[v]);
  }
  return size;
}

}  // namespace

std::vector<double> residual_of(const DualQp& qp, std::span<const double> a) {
  std::vector<double> rest = qp.d;
  for (std::size_t r = 0; r < qp.A.size(); ++r)
    for (std::size_t v = 0; v < qp.size(); ++v) rest[r] -= qp.A[r][v] * a[v];
  return rest;
}

void restore_equality(const DualQp& qp, std::vector<double>& a) {
  constexpr int attempts = 30;
  const std::size_t k = qp.A.size();
  std::vector<double> room(qp.size(), 1.0);
  for (int attempt = 0; attempt < attempts && k > 0; ++attempt) {
    const std::vector<double> rest = residual_of(qp, a), size = row_sizes(qp, a);
    bool done = true;
    for (std::size_t r = 0; r < k; ++r) done = done && std::abs(rest[r]) <= 1e-15 * size[r];
    if (done) return;
    // The direction is that of least squares weighted by the room there is; the room depends on the
    // direction, so it is taken from the last one.
    std::vector<double> M(k * k, 0.0), y = rest;
    for (std::size_t r = 0; r < k; ++r)
      for (std::size_t c = 0; c < k; ++c)
        for (std::size_t v = 0; v < qp.size(); ++v)
          M[r * k + c] += qp.A[r][v] * room[v] * qp.A[c][v];
    solve_small(std::move(M), y);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      double direction = 0;
      for (std::size_t r = 0; r < k; ++r) direction += qp.A[r][v] * y[r];
      const Block& block = qp.block[v];
      if (attempt > 0) a[v] = std::clamp(a[v] + room[v] * direction, block.lower, block.upper);
      // At first only variables inside move, and little where a bound is near; if that is not
      // enough, all that can.
      const double up = block.upper - a[v], down = a[v] - block.lower;
      const bool all = attempt >= attempts / 3 && block.entropy == Entropy::none;
      const double space = all ? (direction > 0 ? up : down) : std::min(up, down);
      room[v] = std::min(space, 1 + std::abs(a[v]));
    }
  }
}

ActiveSet::ActiveSet(const DualQp& qp, PointMatrix& K, ReducedKkt& kkt)
    : qp_(qp), K_(K), kkt_(kkt) {
  const auto diagonal = qp.K->diagonal();
  scale_ = std::accumulate(diagonal.begin(), diagonal.end(), 0.0) /
           std::max(1.0, static_cast<double>(diagonal.size()));
  if (!(scale_ > 0)) scale_ = 1;
}

void ActiveSet::move_to_sides(std::vector<double>& a, std::span<const Side> side) const {
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    if (side[v] == Side::lower) a[v] = qp_.block[v].lower;
    if (side[v] == Side::upper) a[v] = qp_.block[v].upper;
  }
}

std::vector<double> ActiveSet::gradient(std::span<const double> a,
                                        std::span<const double> lambda) const {
  std::vector<double> f(K_.size()), result(qp_.size());
  K_.multiply(qp_.coefficients(a), f);
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    const Block& block = qp_.block[v];
    result[v] = block.sign * f[qp_.row[v]] + block.slope(a[v]);
    for (std::size_t r = 0; r < qp_.A.size(); ++r) result[v] += qp_.A[r][v] * lambda[r];
  }
  return result;
}

bool ActiveSet::solve_inside(std::vector<double>& a, std::vector<double>& lambda,
                             std::span<const Side> side, const GoOn& go_on) {
  std::vector<Index> inside;
  bool straight = true;  // the equations are linear: the factors serve for all corrections
  for (std::size_t v = 0; v < qp_.size(); ++v)
    if (side[v] == Side::inside) {
      inside.push_back(static_cast<Index>(v));
      straight = straight && qp_.block[v].entropy == Entropy::none;
    }
  if (inside.empty()) return true;
  double last = infinity;
  for (int n = 0; n < corrections; ++n) {
    const std::vector<double> g = gradient(a, lambda);
    std::vector<double> r(inside.size());
    double largest = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      r[i] = -g[inside[i]];
      largest = std::max(largest, std::abs(r[i]));
    }
    if (n > 0 && !(largest < 0.5 * last)) break;
    last = largest;
    if ((n == 0 || !straight) && !factor(inside, a, go_on)) return false;
    const ReducedKkt::Step step = kkt_.solve(r, residual_of(qp_, a));
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (!std::isfinite(step.x[i])) return false;
      move(a[inside[i]], step.x[i], qp_.block[inside[i]]);
    }
    for (std::size_t e = 0; e < lambda.size(); ++e) lambda[e] += step.y[e];
  }
  return true;
}

bool ActiveSet::factor(const std::vector<Index>& inside, std::span<const double> a,
                       const GoOn& go_on) {
  std::vector<double> D;
  for (const Index v : inside) D.push_back(qp_.block[v].bend(a[v]) + softening * scale_);
  return kkt_.factor(inside, std::move(D), go_on) == Factor::Outcome::done;
}

bool ActiveSet::change_sides(std::vector<double>& a, std::span<const double> lambda,
                             std::vector<Side>& side) const {
  const std::vector<double> g = gradient(a, lambda);
  double size = 0;  // of the numbers that a gradient is the sum of
  for (std::size_t v = 0; v < qp_.size(); ++v)
    size = std::max(size, std::abs(g[v]) + std::abs(qp_.block[v].linear));
  const double wrong = 1e-14 * size;
  bool changed = false;
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    const Block& block = qp_.block[v];
    const Side before = side[v];
    if (before == Side::inside) {
      if (a[v] <= block.lower) side[v] = Side::lower;
      if (a[v] >= block.upper) side[v] = Side::upper;
      a[v] = std::clamp(a[v], block.lower, block.upper);
    } else if (block.lower < block.upper &&
               (before == Side::lower ? g[v] < -wrong : g[v] > wrong)) {
      side[v] = Side::inside;
    }
    changed = changed || side[v] != before;
  }
  return changed;
}

Polished ActiveSet::judged(std::vector<double> a, std::vector<double> lambda) const {
  Polished result;
  restore_equality(qp_, a);
  std::vector<double> f(K_.size());
  K_.multiply(qp_.coefficients(a), f);
  result.evaluation = evaluate(qp_, a, f, std::move(lambda));
  const std::vector<double> rest = residual_of(qp_, a), size = row_sizes(qp_, a);
  result.equality_residual = 0;
  for (std::size_t r = 0; r < rest.size(); ++r)
    if (rest[r] != 0)
      result.equality_residual = std::max(result.equality_residual, std::abs(rest[r]) / size[r]);
  result.a = std::move(a);
  return result;
}

Polished ActiveSet::polish(std::vector<double> a, std::vector<double> lambda,
                           std::vector<Side> side, int rounds, const GoOn& go_on) {
  move_to_sides(a, side);
  Polished best = judged(a, lambda);
  for (int round = 0; round < rounds; ++round) {
    if (!solve_inside(a, lambda, side, go_on)) break;
    const bool changed = change_sides(a, lambda, side);
    Polished now = judged(a, lambda);
    const bool better =
        now.is_feasible() >= best.is_feasible() && !(now.evaluation.kkt >= best.evaluation.kkt);
    if (better || (now.is_feasible() && !best.is_feasible())) best = std::move(now);
    if (!changed) break;
  }
  return best;
}

}  // namespace maxmargin
