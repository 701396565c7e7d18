#include "maxmargin/solver/smo/cascade.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/multipliers.hpp"
#include "maxmargin/problem/sub_problem.hpp"

namespace maxmargin {
namespace {

// The share of the points.
constexpr double part_size = 0.25;
// Gradients so close to zero, relative to their spread, leave a variable between its bounds.
constexpr double undecided = 0.003;
// Rows of K that tell the means of its columns.
constexpr std::size_t mean_rows = 64;

/// The variables of some points of a problem, with bounds that make up for the others.
SubProblem part_of(const DualQp& qp) {
  std::vector<Index> variables;
  for (std::size_t v = 0; v < qp.size(); ++v)
    // Spread by an odd factor, so that no order of the data makes a part one-sided.
    if (static_cast<std::uint32_t>(qp.row[v]) * 0x9e3779b1u < part_size * 0x1p32)
      variables.push_back(static_cast<Index>(v));
  SubProblem part = sub_problem(qp, variables);
  for (Block& block : part.qp.block) {
    block.lower /= part_size;
    block.upper /= part_size;
    block.curvature *= part_size;
  }
  return part;
}

/// Whether each row can hold on its own, with both signs of its entries where there were both.
bool resembles(const DualQp& part, const DualQp& whole) {
  const auto has = [](const std::vector<double>& row, double sign) {
    return std::any_of(row.begin(), row.end(), [&](double entry) { return entry * sign > 0; });
  };
  for (std::size_t r = 0; r < whole.A.size(); ++r) {
    double least = 0, most = 0;
    for (std::size_t v = 0; v < part.size(); ++v) {
      const double low = part.A[r][v] * part.block[v].lower;
      const double high = part.A[r][v] * part.block[v].upper;
      if (part.A[r][v] == 0) continue;
      least += std::min(low, high);
      most += std::max(low, high);
    }
    if (!(least <= part.d[r] && part.d[r] <= most)) return false;
    for (const double sign : {1.0, -1.0})
      if (has(whole.A[r], sign) && !has(part.A[r], sign)) return false;
  }
  return true;
}

/// Of the variables that are not at their bound nearest to zero, the share not at the other one.
double free_share(const DualQp& qp, const std::vector<double>& a) {
  std::size_t moved = 0, free = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    if (a[v] == std::clamp(0.0, qp.block[v].lower, qp.block[v].upper)) continue;
    ++moved;
    free += a[v] > qp.block[v].lower && a[v] < qp.block[v].upper;
  }
  return moved == 0 ? 1 : static_cast<double>(free) / static_cast<double>(moved);
}

/// The coefficients of a part's solution at the points of the whole.
std::vector<double> coefficients_of(const DualQp& qp, const SubProblem& part,
                                    const Solution& solution) {
  std::vector<double> beta(qp.K->size(), 0.0);
  for (std::size_t k = 0; k < part.variables.size(); ++k)
    beta[qp.row[part.variables[k]]] += part.qp.block[k].sign * solution.a[k];
  return beta;
}

/// The negative gradient of each variable under the decision function of a part.
std::vector<double> negative_gradients(const DualQp& qp, std::span<const double> beta,
                                       const Solution& solution, const Threads& threads) {
  std::vector<double> f(qp.K->size());
  qp.K->multiply(beta, f, Precision::fast, threads);
  std::vector<double> negative_gradient(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    negative_gradient[v] = -(block.sign * f[qp.row[v]] + block.linear);
    for (std::size_t r = 0; r < qp.A.size(); ++r)
      negative_gradient[v] -= solution.lambda[r] * qp.A[r][v];
  }
  return negative_gradient;
}

/// Puts each variable of a pair row at the bound its negative gradient points to, all of them
/// shifted by the multiplier with which the row holds.
void start_pair_row(const DualQp& qp, std::size_t r, const std::vector<double>& negative_gradient,
                    double spread, std::vector<double>& a) {
  const std::vector<double>& row = qp.A[r];
  const double width = undecided * spread;
  const auto at = [&](std::size_t v, double shift) {
    const Block& block = qp.block[v];
    const double share = 0.5 + (negative_gradient[v] + shift * row[v]) / width;
    return std::clamp(block.lower + (block.upper - block.lower) * share, block.lower, block.upper);
  };
  double low = -spread, high = spread, decided = -qp.d[r];
  std::vector<Index> open;  // variables whose bound depends on the shift
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (row[v] != 0) open.push_back(static_cast<Index>(v));
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = (low + high) / 2;
    double sum = decided;
    for (const Index v : open) sum += row[v] * at(v, middle);
    (sum > 0 ? high : low) = middle;
    std::erase_if(open, [&](Index v) {
      const double value = at(v, low);
      if (value != at(v, high)) return false;
      decided += row[v] * value;
      return true;
    });
  }
  for (std::size_t v = 0; v < qp.size(); ++v)
    if (row[v] != 0) a[v] = at(v, low);
}

/// The same with coupled rows: their multipliers are those of a problem that is linear in the
/// variables, with these gradients, and are close to those of the part.
void start_coupled(const DualQp& qp, const std::vector<double>& negative_gradient, Start& start) {
  const double width = undecided * start.spread;
  DualQp decided;
  decided.A = qp.A;
  decided.d = qp.d;
  std::vector<double> slope(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    Block block = qp.block[v];
    const double middle = (block.lower + block.upper) / 2;
    block.curvature = block.upper > block.lower ? width / (block.upper - block.lower) : 1;
    block.linear = -block.curvature * middle;
    decided.block.push_back(block);
    slope[v] = -negative_gradient[v];
    for (std::size_t r = 0; r < qp.A.size(); ++r) slope[v] -= start.lambda[r] * qp.A[r][v];
  }
  start.lambda = best_multipliers(decided, slope, std::move(start.lambda));
  for (std::size_t v = 0; v < qp.size(); ++v) {
    double h = slope[v];
    for (std::size_t r = 0; r < qp.A.size(); ++r) h += start.lambda[r] * qp.A[r][v];
    start.a[v] = decided.block[v].argmax(-h);
  }
}

/// The mean of each column of K, by a few of its rows.
std::vector<double> column_means(const Quadratic& K, const Threads& threads) {
  const std::size_t n = K.size(), stride = std::max<std::size_t>(1, n / mean_rows);
  std::vector<Index> which;
  for (std::size_t p = 0; p < n; p += stride) which.push_back(static_cast<Index>(p));
  std::vector<float> values(which.size() * n);
  std::vector<float*> out;
  for (std::size_t r = 0; r < which.size(); ++r) out.push_back(values.data() + r * n);
  K.rows(which, 0, n, out, threads);
  std::vector<double> mean(n, 0.0);
  for (const float* row : out)
    for (std::size_t p = 0; p < n; ++p) mean[p] += static_cast<double>(row[p]);
  for (double& each : mean) each /= static_cast<double>(which.size());
  return mean;
}

/// The same without rows, as with a penalised bias, which is part of K: f is shifted by the mean of
/// what the change of the coefficients, `part` before, adds to it.
void start_without_rows(const DualQp& qp, const std::vector<double>& negative_gradient,
                        std::span<const double> part, const Threads& threads, Start& start) {
  const double width = undecided * start.spread;
  const std::vector<double> mean = column_means(*qp.K, threads);
  double before = 0;
  for (std::size_t p = 0; p < mean.size(); ++p) before += mean[p] * part[p];
  const auto at = [&](std::size_t v, double shift) {
    const Block& block = qp.block[v];
    const double share = 0.5 + (negative_gradient[v] - shift * block.sign) / width;
    return std::clamp(block.lower + (block.upper - block.lower) * share, block.lower, block.upper);
  };
  double low = -start.spread, high = start.spread;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = (low + high) / 2;
    double sum = -before;
    for (std::size_t v = 0; v < qp.size(); ++v)
      sum += mean[qp.row[v]] * qp.block[v].sign * at(v, middle);
    (sum > middle ? low : high) = middle;
  }
  for (std::size_t v = 0; v < qp.size(); ++v) start.a[v] = at(v, low);
}

}  // namespace

Start cascade_start(const DualQp& qp, const Context& context, const RoughSolver& solve) {
  const PairChoice& choice = context.costs.pairs;
  // Parts of a part are no smaller.
  if (static_cast<double>(qp.K->size()) * part_size < static_cast<double>(choice.least_part))
    return {};
  const SubProblem part = part_of(qp);
  if (!resembles(part.qp, qp)) return {};
  const RowKinds kinds = sort_rows(part.qp);
  if (kinds.refusal) return {};
  Start start = cascade_start(part.qp, context, solve);
  if (start.hopeless) return start;
  const Solution solution = solve(part.qp, start);
  const double share = free_share(part.qp, solution.a);
  start = {{}, {}, 0, start.iterations + solution.iterations, share > choice.hopeless_share};
  if (solution.ended != Ended::converged || share > choice.usable_share) return start;

  const std::vector<double> beta = coefficients_of(qp, part, solution);
  const std::vector<double> negative_gradient =
      negative_gradients(qp, beta, solution, context.threads);
  const auto [least, most] =
      std::minmax_element(negative_gradient.begin(), negative_gradient.end());
  start.spread = *most - *least;
  start.lambda = solution.lambda;
  start.a.assign(qp.size(), 0.0);
  const bool decided = std::ranges::all_of(
      qp.block, [](const Block& b) { return std::isfinite(b.upper) && std::isfinite(b.lower); });
  if (!kinds.coupled.empty() && decided)
    start_coupled(qp, negative_gradient, start);
  else if (qp.A.empty() && decided)
    start_without_rows(qp, negative_gradient, beta, context.threads, start);
  else
    for (const std::size_t r : kinds.pair)
      start_pair_row(qp, r, negative_gradient, start.spread, start.a);
  return start;
}

}  // namespace maxmargin
