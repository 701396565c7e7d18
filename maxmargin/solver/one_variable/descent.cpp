#include "maxmargin/solver/one_variable/descent.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/sub_problem.hpp"
#include "maxmargin/solver/one_variable/free_steps.hpp"
#include "maxmargin/solver/scan.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t variables_per_task = 8192;
// In a working set: so many single steps of each variable, then so many steps of all free ones.
constexpr std::size_t steps_between_newton = 4;
constexpr int newton_steps_in_set = 16;
// A point with K(x, x) = 0 has no curvature; its step is then bounded by the box alone.
constexpr double least_curvature = 1e-12;

}  // namespace

Descent::Descent(const DualQp& qp, std::vector<double> a, Precision precision, Shared shared,
                 std::vector<double> f)
    : lambda(qp.A.size(), 0.0),
      penalty(qp.A.size(), 0.0),
      qp_(qp),
      precision_(precision),
      columns_(qp),
      shared_(shared),
      a_(std::move(a)),
      f_(std::move(f)),
      slope_(qp.size(), 0.0),
      violation_(qp.size(), 0.0),
      in_set_(qp.size(), false),
      change_(qp.K->size(), 0.0) {
  if (f_.size() == qp.K->size()) {
    refresh_residual();
  } else {
    f_.resize(qp.K->size());
    refresh();
  }
}

void Descent::refresh() {
  qp_.K->multiply(qp_.coefficients(a_), f_, precision_, shared_.context.threads);
  refresh_residual();
}

void Descent::move_to(std::vector<double> a, std::vector<double> f) {
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

double Descent::look() {
  const std::vector<double> price = multipliers();
  const std::size_t n = a_.size();
  task_worst_.assign((n + variables_per_task - 1) / variables_per_task, 0.0);
  shared_.context.threads.split(n, variables_per_task, [&](std::size_t begin, std::size_t end) {
    task_worst_[begin / variables_per_task] =
        find_violations(columns_, {a_, f_, price}, begin, end, slope_.data(), violation_.data());
  });
  return task_worst_.empty() ? 0 : *std::max_element(task_worst_.begin(), task_worst_.end());
}

Index Descent::worst() const {
  const std::size_t task = static_cast<std::size_t>(
      std::max_element(task_worst_.begin(), task_worst_.end()) - task_worst_.begin());
  const auto begin = violation_.begin() + static_cast<std::ptrdiff_t>(task * variables_per_task);
  return static_cast<Index>(std::find(begin, violation_.end(), task_worst_[task]) -
                            violation_.begin());
}

/// The variables with the largest violations that are not yet in the set; of equal ones the first.
std::vector<Index> Descent::most_violating(std::size_t wanted) {
  std::vector<Index> found;
  // The smallest violation of the last set is mostly low enough a threshold for the next one.
  for (double least = last_least_ / 2;; least = 0) {
    std::vector<std::vector<Index>> of_task(task_worst_.size());
    shared_.context.threads.run(task_worst_.size(), [&](std::size_t task) {
      if (task_worst_[task] <= 0 || task_worst_[task] < least) return;
      const std::size_t begin = task * variables_per_task;
      find_at_least(violation_.data(), begin, std::min(variables_per_task, a_.size() - begin),
                    std::max(least, std::numeric_limits<double>::min()), of_task[task]);
    });
    found.clear();
    for (const std::vector<Index>& some : of_task)
      std::copy_if(some.begin(), some.end(), std::back_inserter(found),
                   [&](Index v) { return !in_set_[v]; });
    if (found.size() >= wanted || least == 0) break;
  }
  const auto worse = [&](Index v, Index w) {
    return violation_[v] != violation_[w] ? violation_[v] > violation_[w] : v < w;
  };
  last_least_ = 0;
  if (found.size() > wanted) {
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(wanted),
                     found.end(), worse);
    last_least_ = violation_[found[wanted]];
    found.resize(wanted);
  }
  return found;
}

std::vector<Index> Descent::choose_set() {
  const std::size_t most = std::min(shared_.working_set, a_.size());
  if (most == 1) return {worst()};
  // Variables that are still free take part again: leaving them out would undo their last steps.
  const std::size_t most_reused = most / 2;
  std::vector<Index> set;
  for (const Index v : last_set_)
    if (is_free(v) && set.size() < most_reused) set.push_back(v);
  for (const Index v : set) in_set_[v] = true;
  const std::vector<Index> others = most_violating(most - set.size());
  for (const Index v : set) in_set_[v] = false;
  set.insert(set.end(), others.begin(), others.end());
  std::sort(set.begin(), set.end());
  last_set_ = set;
  return set;
}

/// K between the points of a set of variables, from rows that the cache has, the others computed.
void Descent::fill_kernel(const std::vector<Index>& set, SetProblem& problem) const {
  const std::vector<Index> points = points_of(qp_.row, set);
  const std::vector<Index> position = positions_of(qp_.row, set, points);
  std::vector<Index> missing;
  const std::size_t width = points.size();
  std::vector<float> between(width * width);
  std::vector<float*> out;
  const bool cheap = qp_.K->value_cost() < shared_.context.costs.pick_value;
  for (std::size_t p = 0; p < width; ++p) {
    float* row = between.data() + p * width;
    if (!cheap && shared_.cache.holds(points[p])) {
      shared_.cache.pick(points[p], points, row);
    } else {
      missing.push_back(static_cast<Index>(p));
      out.push_back(row);
    }
  }
  if (!missing.empty()) qp_.K->among(points, missing, out, shared_.context.threads);

  for (std::size_t k = 0; k < set.size(); ++k)
    for (std::size_t i = 0; i < set.size(); ++i)
      problem.M[k * problem.stride + i] = between[position[k] * width + position[i]];
}

SetProblem Descent::problem_of(const std::vector<Index>& set) const {
  SetProblem problem(set.size());
  const std::size_t rows = qp_.A.size();
  std::vector<double> curvatures(set.size());
  AlignedVector<double> sign(problem.stride, 0.0);
  std::vector<AlignedVector<double>> A(rows, AlignedVector<double>(problem.stride, 0.0));
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Index v = set[i];
    const Block& block = qp_.block[v];
    sign[i] = block.sign;
    double curvature = qp_.K->diagonal()[qp_.row[v]] + block.curvature;
    for (std::size_t r = 0; r < rows; ++r) {
      A[r][i] = qp_.A[r][v];
      curvature += penalty[r] * A[r][i] * A[r][i];
    }
    curvatures[i] = curvature;
    problem.diagonal[i] = std::max(curvature, least_curvature);
    problem.slope[i] = slope_[v];
    problem.a[i] = a_[v];
    problem.lower[i] = block.lower;
    problem.upper[i] = block.upper;
  }
  if (set.size() > 1) {
    fill_kernel(set, problem);
    add_signs_and_rows(problem, sign, A, penalty);
  }
  for (std::size_t i = 0; i < set.size(); ++i)
    problem.M[i * problem.stride + i] = static_cast<float>(curvatures[i]);
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
  const std::size_t steps = solve_set(set, problem, target, most_steps);
  return taken(set, problem, steps);
}

/// Steps of one variable each; where these are many for each variable, now and then all free
/// variables of the set move to their minimum at once.
std::size_t Descent::solve_set(const std::vector<Index>& set, SetProblem& problem, double target,
                               std::size_t most_steps) const {
  if (!shared_.newton || set.size() < 2) return take_greedy_steps(problem, target, most_steps);
  const std::size_t some = steps_between_newton * set.size();
  std::size_t steps = 0;
  while (true) {
    const std::size_t most = std::min(some, most_steps - steps);
    const std::size_t taken = take_greedy_steps(problem, target, most);
    steps += taken;
    if (taken < most || steps == most_steps || !move_free(set, problem)) return steps;
  }
}

/// False if nothing moved.
bool Descent::move_free(const std::vector<Index>& set, SetProblem& problem) const {
  std::vector<Index> free;
  std::vector<std::size_t> position;
  FreePoint start;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!(problem.a[i] > problem.lower[i] && problem.a[i] < problem.upper[i])) continue;
    free.push_back(set[i]);
    position.push_back(i);
    start.a.push_back(problem.a[i]);
    start.slope.push_back(problem.slope[i]);
  }
  if (free.size() < 2) return false;
  const FreePoint end = newton_steps(qp_, penalty, free, std::move(start), newton_steps_in_set,
                                     shared_.context.threads);
  bool moved = false;
  for (std::size_t k = 0; k < free.size(); ++k) {
    const double change = end.a[k] - problem.a[position[k]];
    if (change == 0) continue;
    moved = true;
    problem.a[position[k]] = end.a[k];
    const float* row = problem.M.data() + position[k] * problem.stride;
    for (std::size_t i = 0; i < problem.size; ++i)
      problem.slope[i] += change * static_cast<double>(row[i]);
  }
  return moved;
}

Descent::Progress Descent::pass(const std::vector<Index>& set, Pace pace) {
  SetProblem problem = problem_of(set);
  const std::size_t steps = take_ordered_steps(problem, pace);
  return taken(set, problem, steps);
}

std::vector<Index> Descent::free_variables() const {
  std::vector<Index> free;
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (is_free(v)) free.push_back(static_cast<Index>(v));
  return free;
}

Descent::Progress Descent::improve_free(int most_steps) {
  const std::vector<Index> free = free_variables();
  FreePoint start;
  for (const Index v : free) {
    start.a.push_back(a_[v]);
    start.slope.push_back(slope_[v]);
  }
  const FreePoint end =
      newton_steps(qp_, penalty, free, start, most_steps, shared_.context.threads);
  Progress progress;
  for (std::size_t k = 0; k < free.size(); ++k) {
    progress.steps += end.a[k] != start.a[k];
    progress.decrease -= (end.a[k] - start.a[k]) * (start.slope[k] + end.slope[k]) / 2;
  }
  if (progress.steps > 0) carry_over(free, end.a);
  return progress;
}

std::vector<Index> Descent::violators(double least) const {
  std::vector<Index> result;
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (violation_[v] > least) result.push_back(static_cast<Index>(v));
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
  if (changed.size() > shared_.cache.capacity())
    qp_.K->add_product(changed, coefficients, f_, shared_.context.threads);
  else
    shared_.cache.add(changed, coefficients, wishes(set, changed), f_, shared_.context.threads);
}

/// Rows of points at a bound are mostly not needed again, and cheap ones are recomputed in about
/// the time that fresh memory for them takes.
RowCache::Wishes Descent::wishes(const std::vector<Index>& set,
                                 const std::vector<Index>& changed) const {
  std::vector<Index> free;
  for (const Index v : set)
    if (is_free(v)) free.push_back(qp_.row[v]);
  std::sort(free.begin(), free.end());
  const bool cheap = qp_.K->value_cost() < shared_.context.costs.touch_value;
  RowCache::Wishes wishes;
  wishes.keep.resize(changed.size());
  std::size_t wanted = 0;
  for (std::size_t k = 0; k < changed.size(); ++k) {
    wishes.keep[k] = !cheap || std::binary_search(free.begin(), free.end(), changed[k]);
    wanted += wishes.keep[k];
  }
  if (shared_.cache.lacks_room_for(wanted)) wishes.precious = precious();
  return wishes;
}

std::vector<bool> Descent::precious() const {
  std::vector<bool> result(f_.size(), false);
  for (std::size_t v = 0; v < a_.size(); ++v)
    if (is_free(v)) result[qp_.row[v]] = true;
  return result;
}

}  // namespace maxmargin
