#include "maxmargin/train/machines/few_rows.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/loss/hinge.hpp"
#include "maxmargin/problem/evaluate.hpp"

namespace maxmargin {
namespace {

constexpr double least_curvature = 1e-12;

}  // namespace

/// The pair that violates most by its first variable and gains most by its second.
struct FewRows::Pair {
  std::size_t up, low;
  double violation;
};

void FewRows::begin(const double* K) {
  K_ = K;
  size_ = iterations_ = 0;
}

void FewRows::add(double sign, double cost) {
  block_[size_] = Hinge{}.blocks(sign, cost)[0];
  sign_[size_] = sign;
  upper_[size_] = cost;
  a_[size_] = 0;
  gradient_[size_] = -1;
  ++size_;
}

FewRows::Pair FewRows::worst_pair() const {
  Pair pair{size_, size_, 0};
  double highest = -infinity, lowest = infinity;
  for (std::size_t v = 0; v < size_; ++v) {
    const double sign = sign_[v], value = -sign * gradient_[v];
    const bool can_grow = a_[v]<upper_[v], can_fall = a_[v]> 0;
    if ((sign > 0 ? can_grow : can_fall) && value > highest) {
      highest = value;
      pair.up = v;
    }
    if (sign > 0 ? can_fall : can_grow) lowest = std::min(lowest, value);
  }
  pair.violation = highest - lowest;
  if (pair.up == size_) return pair;
  const double* row_up = row(pair.up);
  double most_gain = 0;
  for (std::size_t v = 0; v < size_; ++v) {
    const double sign = sign_[v], difference = highest + sign * gradient_[v];
    if (!(sign > 0 ? a_[v] > 0 : a_[v] < upper_[v]) || difference <= 0) continue;
    const double curvature = diagonal(pair.up) + diagonal(v) - 2 * row_up[v];
    const double gain = difference * difference / std::max(curvature, least_curvature);
    if (gain > most_gain) {
      most_gain = gain;
      pair.low = v;
    }
  }
  return pair;
}

/// Along s_up a_up + s_low a_low = constant, to the optimum or a bound.
void FewRows::step(const Pair& pair) {
  const std::size_t i = pair.up, j = pair.low;
  const double *row_i = row(i), *row_j = row(j);
  const double curvature = std::max(diagonal(i) + diagonal(j) - 2 * row_i[j], least_curvature);
  const double room_i = sign_[i] > 0 ? upper_[i] - a_[i] : a_[i];
  const double room_j = sign_[j] > 0 ? a_[j] : upper_[j] - a_[j];
  const double wanted = (sign_[j] * gradient_[j] - sign_[i] * gradient_[i]) / curvature;
  const double length = std::min({wanted, room_i, room_j});
  // At a bound exactly, where that is the end of the step.
  a_[i] = length == room_i ? (sign_[i] > 0 ? upper_[i] : 0) : a_[i] + sign_[i] * length;
  a_[j] = length == room_j ? (sign_[j] > 0 ? 0 : upper_[j]) : a_[j] - sign_[j] * length;
  for (std::size_t v = 0; v < size_; ++v) gradient_[v] += sign_[v] * length * (row_i[v] - row_j[v]);
}

bool FewRows::improve(double violation) {
  const std::size_t most_steps = 1000 * (size_ + 10);
  for (const std::size_t end = iterations_ + most_steps; iterations_ < end; ++iterations_) {
    const Pair pair = worst_pair();
    if (!(pair.violation > violation) || pair.low == size_) return true;
    step(pair);
  }
  return false;
}

FewRows::Answer FewRows::answer() const {
  std::array<double, most> f, q;
  std::fill_n(f.begin(), size_, 0.0);
  for (std::size_t i = 0; i < size_; ++i) {
    const double beta = sign_[i] * a_[i];
    if (beta != 0)
      for (std::size_t v = 0; v < size_; ++v) f[v] += beta * row(i)[v];
  }
  double quadratic = 0, linear = 0, highest = -infinity, lowest = infinity;
  for (std::size_t v = 0; v < size_; ++v) {
    q[v] = sign_[v] * f[v];
    quadratic += a_[v] * q[v];
    linear += a_[v];
    const double multiplier = (1 - q[v]) / sign_[v];
    const bool can_grow = a_[v]<upper_[v], can_fall = a_[v]> 0;
    if (sign_[v] > 0 ? can_grow : can_fall) highest = std::max(highest, multiplier);
    if (sign_[v] > 0 ? can_fall : can_grow) lowest = std::min(lowest, multiplier);
  }
  return {best_multiplier(std::span(block_).first(size_), std::span(q).first(size_),
                          std::span(sign_).first(size_), 0, 0),
          linear - quadratic / 2, std::max(0.0, highest - lowest)};
}

std::optional<FewRows::Answer> FewRows::solve(double violation) {
  double wanted = violation;
  for (int round = 0; round < rounds && improve(wanted); ++round, wanted *= tighter)
    if (const Answer found = answer(); found.violation <= violation) return found;
  return std::nullopt;
}

std::vector<double> exact_values(const Quadratic& K, const Threads& threads) {
  constexpr std::size_t rows_at_once = 16;
  const std::size_t n = K.size();
  std::vector<double> values(n * n);
  threads.split(n, rows_at_once, [&](std::size_t begin, std::size_t end) {
    std::vector<Index> which;
    for (std::size_t i = begin; i < end; ++i) which.push_back(static_cast<Index>(i));
    K.exact_block(which, 0, n, values.data() + begin * n, n);
  });
  return values;
}

}  // namespace maxmargin
