#include "maxmargin/solver/restart.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/sub_problem.hpp"
#include "maxmargin/solver/smo/set/set_solver.hpp"

namespace maxmargin {

namespace {

/// The derivative of the objective and the rows' prices by each variable, at a solution.
std::vector<double> slopes_at(const DualQp& qp, const Certified& solved) {
  std::vector<double> slope(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    slope[v] =
        block.sign * solved.f[qp.row[v]] + block.linear + block.curvature * solved.solution.a[v];
    for (std::size_t r = 0; r < qp.A.size(); ++r)
      slope[v] += solved.solution.lambda[r] * qp.A[r][v];
  }
  return slope;
}

// A part is solved to this share of the tolerance, so that rounding does not leave violations.
constexpr double part_of_tolerance = 0.9;

/// Kernel values over variables, of which some may share a point.
SetKernel kernel_over(const DualQp& qp, std::span<const Index> variables, const Threads& threads) {
  const std::vector<Index> points = points_of(qp.row, variables);
  const std::vector<Index> position = positions_of(qp.row, variables, points);
  SetKernel over_points;
  over_points.resize(points.size());
  std::vector<Index> all(points.size());
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<float*> out;
  for (std::size_t p = 0; p < points.size(); ++p) out.push_back(over_points.row(p));
  qp.K->among(points, all, out, threads);
  if (std::ranges::is_sorted(position) && points.size() == position.size()) return over_points;
  SetKernel over_variables;
  over_variables.resize(variables.size());
  for (std::size_t v = 0; v < position.size(); ++v)
    for (std::size_t w = 0; w < position.size(); ++w)
      over_variables.row(v)[w] = over_points.row(position[v])[position[w]];
  return over_variables;
}

}  // namespace

Restart::Restart(const DualQp& whole, const Certified& solved, std::size_t bytes,
                 const Context& context) {
  const RestartChoice& choice = context.costs.restarts;
  const RowKinds kinds = sort_rows(whole);
  if (!covers_all(kinds) || !kinds.coupled.empty() || kinds.refusal) return;
  const std::vector<double> slope = slopes_at(whole, solved);
  std::size_t free = 0, bounded = 0;
  std::vector<double> reason(whole.size());  // the multiplier of the bound
  for (std::size_t v = 0; v < whole.size(); ++v) {
    const double a = solved.solution.a[v];
    const bool is_free = whole.block[v].lower < a && a < whole.block[v].upper;
    free += is_free;
    bounded += !is_free && a != 0;
    reason[v] = is_free ? -1 : std::abs(slope[v]);
  }
  const auto count =
      choice.least_part + static_cast<std::size_t>(choice.times_free * static_cast<double>(free));
  if (bounded > free || count > choice.largest_part || count * count * sizeof(float) > bytes ||
      static_cast<double>(count) > choice.largest_share * static_cast<double>(whole.size()))
    return;
  std::vector<Index> order(whole.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::nth_element(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](Index x, Index y) { return reason[x] != reason[y] ? reason[x] < reason[y] : x < y; });
  variables_.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
  std::ranges::sort(variables_, [&](Index x, Index y) {
    return whole.row[x] != whole.row[y] ? whole.row[x] < whole.row[y] : x < y;
  });
  position_.assign(whole.size(), none);
  for (std::size_t k = 0; k < variables_.size(); ++k)
    position_[variables_[k]] = static_cast<Index>(k);
  K_ = kernel_over(whole, variables_, context.threads);
}

Restart::Improved Restart::improve(const DualQp& qp, std::vector<double> start, const Known& known,
                                   double kkt, const Context& context) const {
  // The changes so far, and their kernel rows.
  std::vector<const float*> rows;
  std::vector<double> change;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (start[v] == known.a[v]) continue;
    if (position_[v] == none) {
      const Known there = known_at(qp, start, known, context.threads);
      return improve(qp, std::move(start), {there.a, there.f, there.error, known.lambda}, kkt,
                     context);
    }
    rows.push_back(K_.row(position_[v]));
    change.push_back(qp.block[v].sign * (start[v] - known.a[v]));
  }
  Active whole(qp, sort_rows(qp), start);
  whole.f = known.f;
  Active part(whole, variables_);
  add_scaled_rows(rows, change, part.size(), part.f.data());
  const std::size_t steps = SetSolver().solve(part, K_, kkt, context);
  for (std::size_t k = 0; k < variables_.size(); ++k)
    start[variables_[k]] = qp.block[variables_[k]].sign * part.beta[k];
  Improved improved{known_at(qp, std::move(start), known, context.threads), steps};
  improved.at.lambda = known.lambda;
  return improved;
}

std::optional<std::vector<double>> start_from_solution(const DualQp& qp, const Certified& with) {
  std::vector<double> a = with.solution.a;
  if (a.size() != qp.size() || with.f.size() != qp.K->size()) return std::nullopt;
  for (std::size_t v = 0; v < a.size(); ++v)
    a[v] = std::clamp(a[v], qp.block[v].lower, qp.block[v].upper);
  std::optional<std::vector<double>> feasible;
  if (with.solution.lambda.size() == qp.A.size()) {
    const std::vector<double> slope = slopes_at(qp, with);
    double steepest = 0;
    for (const double each : slope) steepest = std::max(steepest, std::abs(each));
    feasible = gently_feasible(qp, a, slope, 1e-4 * steepest, steepest);
  }
  return feasible ? feasible : nearest_feasible(qp, a);
}

Certified Restart::solve(const DualQp& qp, const Certified& from, const Solver& solver,
                         const Context& context, Judged judged) const {
  const Threads& threads = context.threads;
  std::optional<Known> start;
  std::size_t steps = 0;
  if (auto feasible = start_from_solution(qp, from)) {
    const Known known{from.solution.a, from.f, from.error, from.solution.lambda};
    if (pays()) {
      const double kkt = visit_list([](const auto& chosen) { return chosen.stop.kkt; }, solver);
      Improved improved =
          improve(qp, *std::move(feasible), known, part_of_tolerance * kkt, context);
      start = std::move(improved.at);
      steps = improved.steps;
    } else {
      start = known_at(qp, *std::move(feasible), known, threads);
    }
  }
  Certified solved = solve_from(start ? &*start : nullptr, qp, solver, context, judged);
  solved.solution.iterations += steps;
  return solved;
}

}  // namespace maxmargin
