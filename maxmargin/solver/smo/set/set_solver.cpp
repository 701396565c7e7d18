#include "maxmargin/solver/smo/set/set_solver.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/solver/smo/set/newton.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t largest_first_set = 512;  // variables in it
constexpr std::size_t steps_per_variable = 100;
// Pair steps per variable before Newton steps are considered.
constexpr std::size_t steps_between_looks = 4;
constexpr double most_steps_of_newton = 50;

std::vector<Index> free_of(const Active& set) {
  std::vector<Index> free;
  for (std::size_t k = 0; k < set.size(); ++k)
    if (set.is_free(k)) free.push_back(static_cast<Index>(k));
  return free;
}

void apply(const NewtonMove& move, const SetKernel& K, Active& set) {
  std::vector<const float*> rows;
  for (std::size_t k = 0; k < move.variables.size(); ++k) {
    const Index v = move.variables[k];
    set.beta[v] = std::clamp(set.beta[v] + move.change[k], set.lower[v], set.upper[v]);
    rows.push_back(K.row(set.point[v]));
  }
  add_scaled_rows(rows, move.change, set.f.size(), set.f.data());
}

}  // namespace

SetSize::SetSize(const DualQp& qp, std::size_t cache_bytes, std::size_t most) {
  const std::size_t row_bytes = qp.K->size() * sizeof(float) + 64;
  largest = std::clamp<std::size_t>(cache_bytes / row_bytes, 2, most);
  // Choosing a set costs O(n), its kernel values O(size^2): with a multiple of the root of n
  // variables the former is negligible.
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(qp.size())));
  const auto of_roots = [&](std::size_t times) {
    return std::min(std::clamp<std::size_t>(times * root, 64, largest_first_set), largest);
  };
  least = of_roots(2);
  now = of_roots(4);
}

/// Many steps per variable: a larger set saves kernel rows. Few variables that move: a smaller one.
void SetSize::adapt(std::size_t size, std::size_t moved, std::size_t steps) {
  if (2 * moved > size && 2 * steps > 3 * moved)
    now = std::min(2 * now, largest);
  else if (4 * moved < size)
    now = std::max(now / 2, least);
}

std::vector<Index> SetChooser::choose(Active& active, const Active::Gradient& gradient,
                                      std::size_t most, const Threads& threads) {
  most = std::min(most, active.size());
  // Leaves room for the most violating pair.
  const std::size_t most_reused = most < 8 ? 0 : most / 2;
  std::vector<Index> reused;
  for (const Index v : last_)
    if (active.is_free(v) && reused.size() < most_reused) reused.push_back(v);
  std::vector<Index> set = active.violators(most - reused.size(), gradient, reused, threads);
  set.insert(set.end(), reused.begin(), reused.end());
  last_ = set;
  return set;
}

void SetKernel::resize(std::size_t size) {
  stride = (size + 31) / 32 * 32;
  // The padding keeps finite values of earlier sets.
  if (values.size() < size * stride) values.resize(size * stride);
}

std::size_t SetSolver::solve(Active& set, const SetKernel& K, double target,
                             const Context& context) {
  lay_out(set, K);
  const double size = static_cast<double>(set.size());
  const std::size_t at_once = steps_between_looks * set.size();
  std::size_t steps = 0;
  double spent = 0;  // nanoseconds since the last steps of all free variables
  while (true) {
    load(set);
    const InnerResult result = solve_inner(inner_, target, at_once);
    carry_over(set, K);
    steps += result.steps;
    if (result.steps < at_once || steps >= steps_per_variable * set.size()) return steps;
    spent += context.costs.pair_step * size * static_cast<double>(result.steps);
    const std::vector<Index> free = free_of(set);
    const double cost = context.costs.newton(free.size());
    if (spent < cost) continue;
    context.note(Way::newton_of_set);
    const double most = CostModel::steps_within(spent, cost, most_steps_of_newton);
    apply(newton_move(set, K, free, static_cast<int>(most), context), K, set);
    spent = 0;
  }
}

void SetSolver::lay_out(const Active& set, const SetKernel& K) {
  position_.assign(set.point.begin(), set.point.end());
  number_.assign(set.size(), 0);
  if (set.rows() == 1) {
    inner_.reset(std::vector<std::size_t>{set.f.size()});
    for (std::size_t k = 0; k < set.size(); ++k) {
      number_[k] = inner_.row[position_[k]] != nullptr;
      inner_.row[position_[k]] = K.row(position_[k]);
    }
    return;
  }
  // Every group begins at a position of its own, and every variable has one.
  std::vector<std::size_t> sizes(set.rows(), 0);
  for (const Index row : set.row) ++sizes[row];
  inner_.reset(sizes);
  std::vector<std::size_t> next(inner_.begin);
  for (std::size_t k = 0; k < set.size(); ++k) position_[k] = next[set.row[k]]++;
  padded_.resize(inner_.positions());
  for (std::size_t k = 0; k < set.size(); ++k) {
    const float* from = K.row(set.point[k]);
    float* to = padded_.row(position_[k]);
    for (std::size_t i = 0; i < set.size(); ++i) to[position_[i]] = from[set.point[i]];
    inner_.row[position_[k]] = to;
  }
}

void SetSolver::load(const Active& set) {
  for (std::size_t k = 0; k < set.size(); ++k) {
    const std::size_t at = position_[k];
    inner_.negative_gradient[at] = -(set.f[set.point[k]] + set.curvature[k] * set.beta[k]);
    inner_.variable[at][number_[k]] = {set.beta[k], set.lower[k], set.upper[k], -set.linear[k]};
    inner_.curvature[at] = set.curvature[k];
    inner_.diagonal[at] = static_cast<double>(inner_.row[at][at]) + set.curvature[k];
  }
}

void SetSolver::carry_over(Active& set, const SetKernel& K) const {
  std::vector<const float*> rows;
  std::vector<double> change;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double now = inner_.variable[position_[k]][number_[k]].beta, moved = now - set.beta[k];
    if (moved == 0) continue;
    set.beta[k] = now;
    rows.push_back(K.row(set.point[k]));
    change.push_back(moved);
  }
  add_scaled_rows(rows, change, set.f.size(), set.f.data());
}

}  // namespace maxmargin
