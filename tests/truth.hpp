#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// A judge that shares no code with the library: machines over a handful of rows, in long double,
// from the definitions alone. It is slow and plain on purpose.
namespace maxmargin::truth {

using Real = long double;
inline constexpr Real endless = std::numeric_limits<Real>::infinity();

/// One dual variable in terms of its share b of a row's coefficient: the dual is sum psi(b) - 1/2
/// b'Kb, psi concave on [low, high], which holds 0; the primal's share is cost(f) = sup over b of
/// psi(b) - b f.
struct Variable {
  enum class Kind { quadratic, logistic, exponential } kind = Kind::quadratic;
  std::size_t row = 0;
  std::size_t group = 0;  ///< of the equality constraint that it stands in
  Real low = 0, high = 0;
  /// psi = slope b - corner |b| - curvature b^2 / 2, curvature by the side of b
  Real slope = 0, corner = 0, below = 0, above = 0;
  Real label = 1, price = 0;  ///< of the entropies: a = label b, between 0 and price

  static Real t_log(Real t, Real ratio) { return t > 0 ? t * std::log(ratio) : 0; }

  Real psi(Real b) const {
    const Real a = label * b;
    if (kind == Kind::logistic)
      return -t_log(a, a / price) - (price - a > 0 ? (price - a) * std::log1p(-a / price) : 0);
    if (kind == Kind::exponential) return a - t_log(a, a / price);
    return slope * b - corner * std::abs(b) - (b > 0 ? above : below) * b * b / 2;
  }
  /// The slope of psi, to the right of b.
  Real rate(Real b) const {
    const Real a = label * b;
    if (kind == Kind::logistic) return -label * std::log(a / (price - a));
    if (kind == Kind::exponential) return -label * std::log(a / price);
    return b >= 0 ? slope - corner - above * b : slope + corner - below * b;
  }
  /// One parabola, or straight, between its bounds.
  bool is_smooth() const { return kind == Kind::quadratic && corner == 0 && above == below; }
  Real cost(Real f) const {
    if (kind == Kind::logistic)
      return price * (std::max<Real>(0, -label * f) + std::log1p(std::exp(-std::abs(f))));
    if (kind == Kind::exponential) return price * std::exp(-label * f);
    const Real t = slope - f;
    if (t > corner) return side(t - corner, high, above);
    if (t < -corner) return side(-t - corner, -low, below);
    return 0;
  }

 private:
  static Real side(Real t, Real room, Real curvature) {
    const Real b = curvature > 0 ? std::min(room, t / curvature) : room;
    return b == 0 ? 0 : t * b - curvature * b * b / 2;
  }
};

struct Value {
  Real value = 0;
  Real size = 0;  ///< of what it is summed from: its rounding is a few epsilon of that
  void add(Real term) {
    value += term;
    size += std::abs(term);
  }
  Real slack() const { return 256 * std::numeric_limits<Real>::epsilon() * size; }
};

/// max over b of sum psi(b) - 1/2 beta'K beta, with the sum of b of each group given.
struct Problem {
  std::vector<std::vector<Real>> K;
  std::vector<Variable> variables;
  std::vector<Real> sums;  ///< right side of each group; none: no equality constraint

  std::vector<Real> f_of(const std::vector<Real>& b) const {
    std::vector<Real> beta(K.size(), 0), f(K.size(), 0);
    for (std::size_t v = 0; v < b.size(); ++v) beta[variables[v].row] += b[v];
    for (std::size_t i = 0; i < f.size(); ++i)
      for (std::size_t j = 0; j < f.size(); ++j) f[i] += K[i][j] * beta[j];
    return f;
  }
  /// What sums of f are made of, for the rounding of what follows from it.
  Real size_of_f(const std::vector<Real>& b, std::size_t row) const {
    Real size = 0;
    for (std::size_t v = 0; v < b.size(); ++v) size += std::abs(K[row][variables[v].row] * b[v]);
    return size;
  }

  Value dual(const std::vector<Real>& b) const {
    Value result;
    const std::vector<Real> f = f_of(b);
    for (std::size_t v = 0; v < b.size(); ++v) {
      if (b[v] == 0 && variables[v].kind == Variable::Kind::quadratic) continue;
      result.add(variables[v].psi(b[v]));
      result.add(-b[v] * f[variables[v].row] / 2);
      result.size += std::abs(b[v]) * size_of_f(b, variables[v].row);
    }
    return result;
  }
  Value primal(const std::vector<Real>& b, const std::vector<Real>& lambda) const {
    Value result;
    const std::vector<Real> f = f_of(b);
    for (std::size_t v = 0; v < b.size(); ++v) {
      const Variable& variable = variables[v];
      const Real blur = size_of_f(b, variable.row) * std::numeric_limits<Real>::epsilon() * 64;
      result.add(b[v] * f[variable.row] / 2);
      result.size += std::abs(b[v]) * size_of_f(b, variable.row);
      const Real at = f[variable.row] + (sums.empty() ? 0 : lambda[variable.group]);
      result.add(variable.cost(at));
      result.size += std::abs(variable.cost(at + blur) - variable.cost(at - blur)) /
                     std::numeric_limits<Real>::epsilon() / 64;
    }
    for (std::size_t g = 0; g < sums.size(); ++g) result.add(lambda[g] * sums[g]);
    return result;
  }
  /// The multipliers that make the primal smallest: each by halving, since it is convex in each
  /// alone.
  std::vector<Real> best_lambda(const std::vector<Real>& b, const std::vector<Real>& start) const {
    std::vector<Real> lambda = start;
    const std::vector<Real> f = f_of(b);
    for (std::size_t g = 0; g < sums.size(); ++g) {
      const auto cost = [&](Real at) {
        Real sum = at * sums[g];
        for (const Variable& each : variables)
          if (each.group == g) sum += each.cost(f[each.row] + at);
        return sum;
      };
      Real step = std::max<Real>(1, std::abs(start[g])), at = start[g], best = cost(at);
      for (int n = 0; n < 200 && step > 1e-19L * std::abs(at); ++n) {
        const Real up = cost(at + step), down = cost(at - step);
        if (up < best || down < best) {
          at += up < down ? step : -step;
          best = std::min(up, down);
          step *= 2;
        } else {
          step /= 4;
        }
      }
      lambda[g] = at;
    }
    return lambda;
  }

  /// Into the bounds, and then to the sums, where there is room for it.
  void make_feasible(std::vector<Real>& b) const {
    for (std::size_t v = 0; v < b.size(); ++v)
      b[v] = std::clamp(b[v], variables[v].low, variables[v].high);
    for (std::size_t g = 0; g < sums.size(); ++g)
      for (int round = 0; round < 3; ++round)
        for (std::size_t v = 0; v < b.size(); ++v) {
          if (variables[v].group != g) continue;
          Real missing = sums[g];
          for (std::size_t w = 0; w < b.size(); ++w)
            if (variables[w].group == g) missing -= b[w];
          const bool free = b[v] > variables[v].low && b[v] < variables[v].high;
          if (free || round > 0)
            b[v] = std::clamp(b[v] + missing, variables[v].low, variables[v].high);
        }
  }
  Real misses(const std::vector<Real>& b) const {
    Real most = 0;
    for (std::size_t g = 0; g < sums.size(); ++g) {
      Real missing = sums[g];
      for (std::size_t v = 0; v < b.size(); ++v)
        if (variables[v].group == g) missing -= b[v];
      most = std::max(most, std::abs(missing));
    }
    return most;
  }

  /// Raises the dual by moving variables of a group against one another, or each alone.
  void ascend(std::vector<Real>& b, int sweeps) const {
    std::vector<Real> f = f_of(b);
    const auto shift = [&](std::size_t v, Real by) {
      b[v] = std::clamp(b[v] + by, variables[v].low, variables[v].high);
      for (std::size_t i = 0; i < f.size(); ++i) f[i] += K[i][variables[v].row] * by;
    };
    for (int sweep = 0; sweep < sweeps; ++sweep)
      for (std::size_t v = 0; v < b.size(); ++v)
        for (std::size_t w = sums.empty() ? v : 0; w < (sums.empty() ? v + 1 : v); ++w) {
          const Variable &one = variables[v], &other = variables[w];
          if (one.group != other.group) continue;
          const bool alone = sums.empty();
          const std::size_t i = one.row, j = other.row;
          const Real bend = alone ? K[i][i] : K[i][i] + K[j][j] - 2 * K[i][j];
          Real least = one.low - b[v], most = one.high - b[v];
          if (!alone) least = std::max(least, b[w] - other.high);
          if (!alone) most = std::min(most, b[w] - other.low);
          const Real reach = 1e30L;
          least = std::max(least, -reach), most = std::min(most, reach);
          const auto gain = [&](Real t) {
            const Real mine = one.rate(b[v] + t) - f[i] - bend * t;
            return alone ? mine : mine - other.rate(b[w] - t) + f[j];
          };
          if (one.is_smooth() && (alone || other.is_smooth())) {
            const Real total = bend + one.above + (alone ? 0 : other.above);
            const Real t = total > 0 ? gain(0) / total : gain(0) > 0 ? most : least;
            least = most = std::clamp(t, least, most);
          }
          for (int n = 0; n < 100 && most - least > 1e-19L * std::abs(most); ++n) {
            const Real middle = least + (most - least) / 2;
            (gain(middle) > 0 ? least : most) = middle;
          }
          const Real t = least + (most - least) / 2;
          if (!std::isfinite(t) || t == 0) continue;
          shift(v, t);
          if (!alone) shift(w, -t);
        }
  }
};

}  // namespace maxmargin::truth
