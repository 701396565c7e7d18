#include "maxmargin/solver/interior_point/path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace maxmargin {
namespace {

// What is decided is this close to a bound, in terms of the distance between both.
constexpr double at_the_bound = 1e-3;

}  // namespace

Path::Path(const DualQp& qp, PointMatrix& K, ReducedKkt& kkt, double decided)
    : qp_(qp), K_(K), kkt_(kkt), decided_(decided), f_(K.size()), gradient_(qp.size()) {
  start();
}

void Path::start() {
  const std::size_t n = qp_.size();
  const auto diagonal = qp_.K->diagonal();
  double mean = 0, slope = 0;
  own_.resize(n);
  for (std::size_t v = 0; v < n; ++v) {
    own_[v] = diagonal[qp_.row[v]] + qp_.block[v].curvature;
    mean += own_[v] / static_cast<double>(n);
    slope += std::abs(qp_.block[v].linear) / static_cast<double>(n);
  }
  if (!(mean > 0)) mean = 1;
  if (!(slope > 0)) slope = 1;
  for (double& value : own_) value += 0.01 * mean;

  removed_.assign(n, Side::inside);
  a_.resize(n);
  g_.assign(n, infinity);
  t_.assign(n, infinity);
  z_.assign(n, 0.0);
  s_.assign(n, 0.0);
  lambda_.assign(qp_.A.size(), 0.0);
  // About as far as one variable alone would go, and as all of them have to for the equality rows.
  double reach = slope / mean;
  for (std::size_t r = 0; r < qp_.A.size(); ++r) {
    double sum = 0;
    for (const double weight : qp_.A[r]) sum += std::abs(weight);
    if (sum > 0) reach = std::max(reach, std::abs(qp_.d[r]) / sum);
  }
  for (std::size_t v = 0; v < n; ++v) {
    const Block& block = qp_.block[v];
    if (block.lower == block.upper) {
      a_[v] = block.lower;
      removed_[v] = Side::lower;
      continue;
    }
    active_.push_back(static_cast<Index>(v));
    const double width = block.upper - block.lower;
    if (has_lower(v) && has_upper(v)) {
      const double margin = std::min(width / 2, reach);
      // Half of the width from either side: not the same place, after rounding.
      const double low = block.lower + margin, high = std::max(low, block.upper - margin);
      a_[v] = std::clamp(0.0, low, high);
    } else {
      a_[v] = std::clamp(0.0, block.lower + reach, block.upper - reach);
    }
    if (has_lower(v)) g_[v] = a_[v] - block.lower;
    if (has_upper(v)) t_[v] = block.upper - a_[v];
  }
  refresh();
  double mean_gradient = 0;
  for (const Index v : active_) mean_gradient += std::abs(gradient_[v]);
  mean_gradient = std::max(mean_gradient / std::max<double>(1, static_cast<double>(active_.size())),
                           1e-3 * slope);
  for (const Index v : active_) {
    if (has_lower(v)) z_[v] = std::max(gradient_[v], 0.0) + mean_gradient;
    if (has_upper(v)) s_[v] = std::max(-gradient_[v], 0.0) + mean_gradient;
  }
}

void Path::refresh() {
  K_.multiply(qp_.coefficients(a_), f_);
  objective_ = 0;
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    const Block& block = qp_.block[v];
    const double product = block.sign * f_[qp_.row[v]];
    objective_ += a_[v] * product / 2 + block.value(a_[v]);
    gradient_[v] = product + slope(v);
    for (std::size_t r = 0; r < qp_.A.size(); ++r) gradient_[v] += qp_.A[r][v] * lambda_[r];
  }
}

// The distances from the bounds have the digits that the logarithms need.
double Path::slope(std::size_t v) const {
  const Block& block = qp_.block[v];
  const double straight = block.linear + block.curvature * a_[v];
  if (block.entropy == Entropy::none) return straight;
  if (block.entropy == Entropy::own) return block.slope(a_[v]);
  return straight + std::log(g_[v] / (block.entropy == Entropy::logistic ? t_[v] : block.scale));
}

double Path::bend(std::size_t v) const {
  const Block& block = qp_.block[v];
  if (block.entropy == Entropy::none) return block.curvature;
  if (block.entropy == Entropy::own) return block.bend(a_[v]);
  return block.curvature + 1 / g_[v] + (block.entropy == Entropy::logistic ? 1 / t_[v] : 0);
}

double Path::mu() const {
  double sum = 0, count = 0;
  for (const Index v : active_) {
    if (has_lower(v)) sum += g_[v] * z_[v], ++count;
    if (has_upper(v)) sum += t_[v] * s_[v], ++count;
  }
  return count > 0 ? sum / count : 0;
}

Path::Rest Path::rest() const {
  Rest rest{0, 0, 0};
  double size = 0;
  for (const Index v : active_) {
    if (has_lower(v)) rest.gap += g_[v] * z_[v];
    if (has_upper(v)) rest.gap += t_[v] * s_[v];
    rest.gradient = std::max(rest.gradient, std::abs(gradient_[v] - z_[v] + s_[v]));
    size = std::max({size, std::abs(qp_.block[v].linear), std::abs(f_[qp_.row[v]])});
  }
  rest.gap /= std::max(std::abs(objective_), 1e-300);
  rest.gradient /= std::max(size, 1e-300);
  const std::vector<double> missing = residual_of(qp_, a_);
  for (std::size_t r = 0; r < missing.size(); ++r) {
    double sum = std::abs(qp_.d[r]);
    for (std::size_t v = 0; v < qp_.size(); ++v) sum += std::abs(qp_.A[r][v] * a_[v]);
    rest.equality = std::max(rest.equality, std::abs(missing[r]) / std::max(sum, 1e-300));
  }
  return rest;
}

double Path::size_of_a() const {
  double sum = 0;
  for (const double value : a_) sum += std::abs(value);
  return sum;
}

double Path::squared_norm() const {
  double sum = 0;
  for (std::size_t v = 0; v < qp_.size(); ++v) sum += a_[v] * qp_.block[v].sign * f_[qp_.row[v]];
  return sum;
}

double Path::hold(std::size_t v, Side side) const {
  return side == Side::lower ? z_[v] / g_[v] / own_[v] : s_[v] / t_[v] / own_[v];
}

Path::Direction Path::direction(std::span<const double> lower_target,
                                std::span<const double> upper_target) const {
  const std::size_t n = active_.size();
  std::vector<double> r(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Index v = active_[i];
    r[i] = -(gradient_[v] - z_[v] + s_[v]);
    if (has_lower(v)) r[i] += lower_target[i] / g_[v];
    if (has_upper(v)) r[i] -= upper_target[i] / t_[v];
  }
  ReducedKkt::Step step = kkt_.solve(r, residual_of(qp_, a_));
  Direction result{std::move(step.x), std::vector<double>(n, 0.0), std::vector<double>(n, 0.0),
                   std::move(step.y)};
  for (std::size_t i = 0; i < n; ++i) {
    const Index v = active_[i];
    if (has_lower(v)) result.z[i] = (lower_target[i] - z_[v] * result.a[i]) / g_[v];
    if (has_upper(v)) result.s[i] = (upper_target[i] + s_[v] * result.a[i]) / t_[v];
  }
  return result;
}

double Path::longest(const Direction& step) const {
  double length = infinity;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Index v = active_[i];
    if (has_lower(v)) {
      if (step.a[i] < 0) length = std::min(length, -g_[v] / step.a[i]);
      if (step.z[i] < 0) length = std::min(length, -z_[v] / step.z[i]);
    }
    if (has_upper(v)) {
      if (step.a[i] > 0) length = std::min(length, t_[v] / step.a[i]);
      if (step.s[i] < 0) length = std::min(length, -s_[v] / step.s[i]);
    }
  }
  return length;
}

void Path::advance(const Direction& step) {
  for (std::size_t i = 0; i < active_.size(); ++i) {
    const Index v = active_[i];
    const Block& block = qp_.block[v];
    const double moved = length_ * step.a[i];
    a_[v] += moved;
    if (has_lower(v)) {
      g_[v] += moved;
      z_[v] += length_ * step.z[i];
    }
    if (has_upper(v)) {
      t_[v] -= moved;
      s_[v] += length_ * step.s[i];
    }
    // The distance that is small has the digits.
    if (has_lower(v) && g_[v] <= t_[v])
      a_[v] = block.lower + g_[v];
    else if (has_upper(v))
      a_[v] = block.upper - t_[v];
  }
  for (std::size_t e = 0; e < lambda_.size(); ++e) lambda_[e] += length_ * step.lambda[e];
  refresh();
}

Factor::Outcome Path::step(const GoOn& go_on) {
  const std::size_t n = active_.size();
  std::vector<double> D(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Index v = active_[i];
    // The summand keeps variables without bounds and curvature solvable.
    D[i] = bend(v) + z_[v] / g_[v] + s_[v] / t_[v] + 1e-14 * own_[v];
  }
  const Factor::Outcome outcome = kkt_.factor(active_, std::move(D), go_on);
  if (outcome != Factor::Outcome::done) return outcome;

  std::vector<double> lower(n), upper(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Index v = active_[i];
    lower[i] = has_lower(v) ? -g_[v] * z_[v] : 0;
    upper[i] = has_upper(v) ? -t_[v] * s_[v] : 0;
  }
  const Direction predictor = direction(lower, upper);
  const double reach = std::min(1.0, longest(predictor));
  double now = 0, then = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Index v = active_[i];
    if (has_lower(v)) {
      now += g_[v] * z_[v];
      then += (g_[v] + reach * predictor.a[i]) * (z_[v] + reach * predictor.z[i]);
    }
    if (has_upper(v)) {
      now += t_[v] * s_[v];
      then += (t_[v] - reach * predictor.a[i]) * (s_[v] + reach * predictor.s[i]);
    }
  }
  const double ratio = now > 0 ? then / now : 0;
  const double goal = mu() * ratio * ratio * ratio;
  for (std::size_t i = 0; i < n; ++i) {
    if (has_lower(active_[i])) lower[i] += goal - predictor.a[i] * predictor.z[i];
    if (has_upper(active_[i])) upper[i] += goal + predictor.a[i] * predictor.s[i];
  }
  const Direction corrected = direction(lower, upper);
  length_ = std::min(1.0, 0.995 * longest(corrected));
  if (!std::isfinite(length_)) return Factor::Outcome::broke_down;
  advance(corrected);
  return Factor::Outcome::done;
}

std::size_t Path::remove_decided() {
  std::vector<Index> kept;
  for (const Index v : active_) {
    const double low = has_lower(v) ? hold(v, Side::lower) : 0;
    const double high = has_upper(v) ? hold(v, Side::upper) : 0;
    const double width = g_[v] + t_[v];
    if (qp_.block[v].is_open() || std::max(low, high) < decided_ ||
        std::min(g_[v], t_[v]) > at_the_bound * width) {
      kept.push_back(v);
      continue;
    }
    removed_[v] = low > high ? Side::lower : Side::upper;
    a_[v] = low > high ? qp_.block[v].lower : qp_.block[v].upper;
  }
  if (kept.size() < active_.size()) {
    active_ = std::move(kept);
    refresh();
  }
  return readmit();
}

std::size_t Path::readmit() {
  std::size_t back = 0;
  const double level = mu();
  for (std::size_t v = 0; v < qp_.size(); ++v) {
    const Block& block = qp_.block[v];
    if (removed_[v] == Side::inside || block.lower == block.upper) continue;
    if (removed_[v] == Side::lower ? gradient_[v] >= 0 : gradient_[v] <= 0) continue;
    // Back onto the path, at the distance from the bound where multiplier times distance is mu.
    const double width = has_lower(v) && has_upper(v) ? block.upper - block.lower : infinity;
    const double away = std::min(std::sqrt(level / own_[v]), width / 4);
    if (removed_[v] == Side::lower) {
      g_[v] = away;
      t_[v] = width - away;
      a_[v] = block.lower + away;
    } else {
      t_[v] = away;
      g_[v] = width - away;
      a_[v] = block.upper - away;
    }
    if (has_lower(v)) z_[v] = level / g_[v];
    if (has_upper(v)) s_[v] = level / t_[v];
    removed_[v] = Side::inside;
    ++back;
  }
  if (back == 0) return 0;
  active_.clear();
  for (std::size_t v = 0; v < qp_.size(); ++v)
    if (removed_[v] == Side::inside) active_.push_back(static_cast<Index>(v));
  refresh();
  return back;
}

std::vector<Side> Path::sides() const {
  std::vector<Side> side = removed_;
  for (const Index v : active_) {
    if (qp_.block[v].is_open()) continue;
    const double low = has_lower(v) ? hold(v, Side::lower) : 0;
    const double high = has_upper(v) ? hold(v, Side::upper) : 0;
    if (std::max(low, high) > 1) side[v] = low > high ? Side::lower : Side::upper;
  }
  return side;
}

}  // namespace maxmargin
