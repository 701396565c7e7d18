#include "maxmargin/solver/one_variable/descent.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace maxmargin {
namespace {

constexpr std::size_t variables_per_task = 8192;
// Nanoseconds: picking values out of many long rows, touching fresh memory for a value.
constexpr double gathering_cost = 3;
constexpr double cheap_value = 1.5;
// A point with K(x, x) = 0 has no curvature; its step is then bounded by the box alone.
constexpr double least_curvature = 1e-12;

}  // namespace

Descent::Descent(const DualQp& qp, std::vector<double> a, Precision precision, Shared shared,
                 std::vector<double> f)
    : lambda(qp.A.size(), 0.0),
      penalty(qp.A.size(), 0.0),
      qp_(qp),
      precision_(precision),
      shared_(shared),
      a_(std::move(a)),
      f_(std::move(f)),
      slope_(qp.size(), 0.0),
      change_(qp.K->size(), 0.0) {
  if (f_.size() == qp.K->size()) {
    refresh_residual();
  } else {
    f_.resize(qp.K->size());
    refresh();
  }
}

void Descent::refresh() {
  qp_.K->multiply(qp_.coefficients(a_), f_, precision_, shared_.threads);
  refresh_residual();
}

void Descent::place(std::vector<double> a, std::vector<double> f) {
  a_ = std::move(a);
  f_ = std::move(f);
  refresh_residual();
}

void Descent::refresh_residual() {
  residual_.resize(qp_.A.size());
  for (std::size_t r = 0; r < qp_.A.size(); ++r) {
    double sum = -qp_.d[r];
    for (std::size_t v = 0; v < a_.size(); ++v) sum += qp_.A[r][v] * a_[v];
    residual_[r] = sum;
  }
}

std::vector<double> Descent::multipliers() const {
  std::vector<double> result = lambda;
  for (std::size_t r = 0; r < result.size(); ++r) result[r] += penalty[r] * residual_[r];
  return result;
}

double Descent::violation(std::size_t v) const {
  const Block& block = qp_.block[v];
  if (slope_[v] < 0) return a_[v] < block.upper ? -slope_[v] : 0;
  return a_[v] > block.lower ? slope_[v] : 0;
}

double Descent::look() {
  const std::vector<double> price = multipliers();
  const std::size_t n = a_.size();
  std::vector<double> largest((n + variables_per_task - 1) / variables_per_task, 0.0);
  shared_.threads.split(n, variables_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      const Block& block = qp_.block[v];
      slope_[v] = block.sign * f_[qp_.row[v]] + block.linear + block.curvature * a_[v];
    }
    for (std::size_t r = 0; r < price.size(); ++r)
      for (std::size_t v = begin; v < end; ++v) slope_[v] += price[r] * qp_.A[r][v];
    double worst = 0;
    for (std::size_t v = begin; v < end; ++v) worst = std::max(worst, violation(v));
    largest[begin / variables_per_task] = worst;
  });
  return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
}

Index Descent::worst() const {
  Index result = 0;
  double largest = -1;
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (const double here = violation(v); here > largest) {
      largest = here;
      result = static_cast<Index>(v);
    }
  return result;
}

std::vector<Index> Descent::choose_set() {
  const std::size_t most = std::min(shared_.working_set, a_.size());
  if (most == 1) return {worst()};
  // Variables that are still free take part again: leaving them out would undo their last steps.
  const std::size_t most_kept = most / 2;
  std::vector<Index> set;
  for (const Index v : last_set_)
    if (is_free(v) && set.size() < most_kept) set.push_back(v);
  std::vector<bool> taken(a_.size(), false);
  for (const Index v : set) taken[v] = true;

  struct Candidate {
    double violation;
    Index v;
  };
  std::vector<Candidate> candidates;
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (const double here = violation(v); here > 0 && !taken[v])
      candidates.push_back({here, static_cast<Index>(v)});
  const auto worse = [](const Candidate& x, const Candidate& y) {
    return x.violation != y.violation ? x.violation > y.violation : x.v < y.v;
  };
  const std::size_t wanted = most - set.size();
  if (candidates.size() > wanted) {
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(wanted),
                     candidates.end(), worse);
    candidates.resize(wanted);
  }
  for (const Candidate& candidate : candidates) set.push_back(candidate.v);
  std::sort(set.begin(), set.end());
  last_set_ = set;
  return set;
}

/// K between the points of a set of variables, from rows that the cache has, the others computed.
std::vector<float> Descent::kernel_of(const std::vector<Index>& set) const {
  std::vector<Index> points, missing;  // in increasing order, without repetition
  for (const Index v : set) points.push_back(qp_.row[v]);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  const std::size_t width = points.size();
  std::vector<float> between(width * width);
  std::vector<float*> out;
  const bool cheap = qp_.K->value_cost() < gathering_cost;
  for (std::size_t p = 0; p < width; ++p) {
    float* row = between.data() + p * width;
    if (!cheap && shared_.cache.holds(points[p])) {
      shared_.cache.pick(points[p], points, row);
    } else {
      missing.push_back(static_cast<Index>(p));
      out.push_back(row);
    }
  }
  if (!missing.empty()) qp_.K->among(points, missing, out, shared_.threads);

  std::vector<std::size_t> place(set.size());  // several variables may share a point
  for (std::size_t k = 0; k < set.size(); ++k)
    place[k] = static_cast<std::size_t>(
        std::lower_bound(points.begin(), points.end(), qp_.row[set[k]]) - points.begin());
  std::vector<float> values(set.size() * set.size());
  for (std::size_t k = 0; k < set.size(); ++k)
    for (std::size_t i = 0; i < set.size(); ++i)
      values[k * set.size() + i] = between[place[k] * width + place[i]];
  return values;
}

SetProblem Descent::problem_of(const std::vector<Index>& set) const {
  SetProblem problem(set.size());
  const std::vector<float> K = set.size() > 1 ? kernel_of(set) : std::vector<float>(1);
  const std::size_t rows = qp_.A.size();
  std::vector<double> weighted(rows);
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Index v = set[i];
    const Block& block = qp_.block[v];
    float* to = problem.M.data() + i * problem.stride;
    double curvature = qp_.K->diagonal()[qp_.row[v]] + block.curvature;
    for (std::size_t r = 0; r < rows; ++r) {
      weighted[r] = penalty[r] * qp_.A[r][v];
      curvature += weighted[r] * qp_.A[r][v];
    }
    for (std::size_t j = 0; j < set.size(); ++j) {
      double value =
          static_cast<double>(K[i * set.size() + j]) * block.sign * qp_.block[set[j]].sign;
      for (std::size_t r = 0; r < rows; ++r) value += weighted[r] * qp_.A[r][set[j]];
      to[j] = static_cast<float>(value);
    }
    to[i] = static_cast<float>(curvature);
    problem.diagonal[i] = std::max(curvature, least_curvature);
    problem.slope[i] = slope_[v];
    problem.a[i] = a_[v];
    problem.lower[i] = block.lower;
    problem.upper[i] = block.upper;
  }
  return problem;
}

Descent::Progress Descent::taken(const std::vector<Index>& set, const SetProblem& problem,
                                 std::size_t steps) {
  Progress progress{steps, 0};
  for (std::size_t i = 0; i < set.size(); ++i)
    progress.decrease -= (problem.a[i] - a_[set[i]]) * (slope_[set[i]] + problem.slope[i]) / 2;
  if (steps > 0) carry_over(set, {problem.a.data(), set.size()});
  return progress;
}

Descent::Progress Descent::improve(double target, std::size_t most_steps) {
  const std::vector<Index> set = choose_set();
  SetProblem problem = problem_of(set);
  const std::size_t steps = take_greedy_steps(problem, target, most_steps);
  return taken(set, problem, steps);
}

Descent::Progress Descent::pass(const std::vector<Index>& set, Pace pace) {
  SetProblem problem = problem_of(set);
  const std::size_t steps = take_ordered_steps(problem, pace);
  return taken(set, problem, steps);
}

std::vector<Index> Descent::violators(double least) const {
  std::vector<Index> result;
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (violation(v) > least) result.push_back(static_cast<Index>(v));
  return result;
}

void Descent::carry_over(const std::vector<Index>& set, std::span<const double> now) {
  std::vector<Index> changed;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Index v = set[i];
    const double moved = now[i] - a_[v];
    if (moved == 0) continue;
    a_[v] = now[i];
    change_[qp_.row[v]] += qp_.block[v].sign * moved;
    changed.push_back(qp_.row[v]);
    for (std::size_t r = 0; r < residual_.size(); ++r) residual_[r] += moved * qp_.A[r][v];
  }
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  std::vector<double> coefficients(changed.size());
  for (std::size_t k = 0; k < changed.size(); ++k)
    coefficients[k] = std::exchange(change_[changed[k]], 0.0);
  shared_.cache.add(changed, coefficients, wishes(set, changed), f_, shared_.threads);
}

/// Rows of points that have come to a bound are mostly not needed again; if they are, and cheap,
/// they are computed again as fast as memory for them is had.
RowCache::Wishes Descent::wishes(const std::vector<Index>& set,
                                 const std::vector<Index>& changed) const {
  std::vector<Index> free;
  for (const Index v : set)
    if (is_free(v)) free.push_back(qp_.row[v]);
  std::sort(free.begin(), free.end());
  const bool cheap = qp_.K->value_cost() < cheap_value;
  RowCache::Wishes wishes;
  wishes.keep.resize(changed.size());
  std::size_t kept = 0;
  for (std::size_t k = 0; k < changed.size(); ++k) {
    wishes.keep[k] = !cheap || std::binary_search(free.begin(), free.end(), changed[k]);
    kept += wishes.keep[k];
  }
  if (shared_.cache.lacks_room_for(kept)) wishes.precious = precious();
  return wishes;
}

std::vector<bool> Descent::precious() const {
  std::vector<bool> result(f_.size(), false);
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (is_free(v)) result[qp_.row[v]] = true;
  return result;
}

}  // namespace maxmargin
