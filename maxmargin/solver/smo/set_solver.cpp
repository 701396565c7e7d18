#include "maxmargin/solver/smo/set_solver.hpp"

#include <algorithm>

#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t steps_per_variable = 100;

}  // namespace

std::vector<Index> SetChooser::choose(Active& active, const Active::Levels& levels,
                                      std::size_t most, const Threads& threads) {
  most = std::min(most, active.size());
  // The most violating pair must always have its place.
  const std::size_t most_kept = most < 8 ? 0 : most / 2;
  std::vector<Index> kept;
  for (const Index v : last_)
    if (active.is_free(v) && kept.size() < most_kept) kept.push_back(v);
  std::vector<Index> set = active.violators(most - kept.size(), levels, kept, threads);
  set.insert(set.end(), kept.begin(), kept.end());
  last_ = set;
  return set;
}

void SetKernel::resize(std::size_t size) {
  stride = (size + 31) / 32 * 32;
  // What an earlier set left in the padding is finite.
  if (values.size() < size * stride) values.resize(size * stride);
}

std::size_t SetSolver::solve(Active& set, const SetKernel& K, double target) {
  std::vector<std::size_t> sizes(set.rows(), 0), place(set.size());
  for (const Index row : set.row) ++sizes[row];
  inner_.reset(sizes);
  std::vector<std::size_t> next(inner_.begin);
  for (std::size_t k = 0; k < set.size(); ++k) place[k] = next[set.row[k]]++;
  inner_.K = K.values.data();
  if (sizes.size() > 1) {
    // Every group begins at a place of its own.
    padded_.resize(inner_.stride);
    for (std::size_t k = 0; k < set.size(); ++k)
      for (std::size_t i = 0; i < set.size(); ++i) padded_.row(place[k])[place[i]] = K.row(k)[i];
    inner_.K = padded_.values.data();
  }
  load(set, place);
  const std::size_t steps = solve_inner(inner_, target, steps_per_variable * set.size()).steps;

  std::vector<const float*> rows;
  std::vector<double> change;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double moved = inner_.beta[place[k]] - set.beta[k];
    if (moved == 0) continue;
    set.beta[k] = inner_.beta[place[k]];
    rows.push_back(K.row(k));
    change.push_back(moved);
  }
  add_scaled_rows(rows, change, set.size(), set.f.data());
  return steps;
}

void SetSolver::load(const Active& set, const std::vector<std::size_t>& place) {
  for (std::size_t k = 0; k < set.size(); ++k) {
    const std::size_t at = place[k];
    inner_.level[at] = set.level(k);
    inner_.beta[at] = set.beta[k];
    inner_.lower[at] = set.lower[k];
    inner_.upper[at] = set.upper[k];
    inner_.curvature[at] = set.curvature[k];
    inner_.diagonal[at] = static_cast<double>(inner_.K[at * inner_.stride + at]) + set.curvature[k];
  }
}

}  // namespace maxmargin
