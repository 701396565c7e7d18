#include "maxmargin/solver/smo/pairs/cached_pairs.hpp"

#include <algorithm>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/solver/smo/candidate.hpp"

namespace maxmargin {
namespace {

// Rows are computed when the violation among points with rows is below this share of that of all.
constexpr double cached_share = 0.4;
// How many rows are computed at once: at least so many, and this fraction of all.
constexpr std::size_t least_rows = 64, rows_share = 64;

}  // namespace

bool CachedPairs::can_take(const Active& active, const CoupledRows& coupling,
                           const RowCache& cache) {
  const std::size_t points = active.f.size();
  if (!coupling.empty() || cache.capacity() < points || active.K->can().coded != nullptr)
    return false;
  std::vector<unsigned char> variables(active.rows() * points, 0);
  for (std::size_t v = 0; v < active.size(); ++v) {
    if (active.curvature[v] != 0) return false;
    if (++variables[active.row[v] * points + active.point[v]] > 2) return false;
  }
  return true;
}

CachedPairs::CachedPairs(Active& active, RowCache& cache)
    : active_(active), cache_(cache), slot_(active.size()) {
  const std::size_t points = active.f.size();
  inner_.reset(std::vector<std::size_t>(active.rows(), points));
  inner_.alike = true;
  const auto diagonal = active.K->diagonal();
  for (std::size_t r = 0; r < active.rows(); ++r)
    for (std::size_t p = 0; p < points; ++p) {
      inner_.negative_gradient[position(r, p)] = -active.f[p];
      inner_.diagonal[position(r, p)] = diagonal[p];
    }
  std::vector<bool> taken(inner_.positions(), false);
  for (std::size_t v = 0; v < active.size(); ++v) {
    const std::size_t at = position(active.row[v], active.point[v]);
    slot_[v] = taken[at];
    taken[at] = true;
    inner_.variable[at][slot_[v]] = {active.beta[v], active.lower[v], active.upper[v],
                                     -active.linear[v]};
  }
  for (std::size_t p = 0; p < points; ++p) show(p);
}

void CachedPairs::show(std::size_t point) {
  for (std::size_t r = 0; r < active_.rows(); ++r) {
    inner_.row[position(r, point)] = cache_.floats(static_cast<Index>(point));
    note_bounds(inner_, position(r, point));
  }
}

Active::Range CachedPairs::ends(std::size_t row, bool cached) const {
  Active::Range range;
  for (std::size_t p = 0; p < active_.f.size(); ++p) {
    const std::size_t at = position(row, p);
    if ((inner_.row[at] != nullptr) != cached) continue;
    for (const InnerProblem::Variable& each : inner_.variable[at]) {
      const double negative_gradient = inner_.negative_gradient[at] + each.own;
      if (each.beta < each.upper) range.highest = std::max(range.highest, negative_gradient);
      if (each.beta > each.lower) range.lowest = std::min(range.lowest, negative_gradient);
    }
  }
  return range;
}

std::vector<Index> CachedPairs::worst_missing(const Active::Gradient& ends) const {
  std::vector<Candidate> all;
  for (std::size_t p = 0; p < active_.f.size(); ++p) {
    double by = 0;
    for (std::size_t r = 0; r < active_.rows(); ++r) {
      const std::size_t at = position(r, p);
      if (inner_.row[at] != nullptr) continue;
      for (const InnerProblem::Variable& each : inner_.variable[at]) {
        const double negative_gradient = inner_.negative_gradient[at] + each.own;
        if (each.beta < each.upper) by = std::max(by, negative_gradient - ends.row[r].lowest);
        if (each.beta > each.lower) by = std::max(by, ends.row[r].highest - negative_gradient);
      }
    }
    if (by > 0) all.push_back({by, static_cast<Index>(p), static_cast<Index>(p)});
  }
  const std::size_t most = std::max(least_rows, active_.f.size() / rows_share);
  keep_worst(all, most);
  std::vector<Index> points;
  for (const Candidate& each : all) points.push_back(each.v);
  std::sort(points.begin(), points.end());
  return points;
}

CachedPairs::Result CachedPairs::improve(double target, std::size_t most_steps,
                                         const Context& context) {
  Result result;
  const double points = static_cast<double>(active_.f.size());
  while (result.steps < most_steps) {
    Active::Gradient all{std::vector<Active::Range>(active_.rows())};
    double cached_violation = 0;
    for (std::size_t r = 0; r < active_.rows(); ++r) {
      const Active::Range cached = ends(r, true), missing = ends(r, false);
      all.row[r] = {std::max(cached.highest, missing.highest),
                    std::min(cached.lowest, missing.lowest)};
      cached_violation = std::max(cached_violation, cached.violation());
    }
    if (!(all.violation() > target)) break;
    const double aim = std::max(target, cached_share * all.violation());
    if (cached_violation <= aim) {
      const std::vector<Index> some = worst_missing(all);
      if (!cache_.fetch(some, context.threads)) break;
      for (const Index point : some) show(point);
      result.work += active_.K->value_cost() * points * static_cast<double>(some.size());
      continue;
    }
    const InnerResult inner = solve_inner(inner_, aim, most_steps - result.steps);
    result.steps += inner.steps;
    result.decrease += inner.decrease;
    result.work += context.costs.pair_step * points * static_cast<double>(inner.steps);
    if (inner.steps == 0) break;
  }
  for (std::size_t v = 0; v < active_.size(); ++v)
    active_.beta[v] = inner_.variable[position(active_.row[v], active_.point[v])][slot_[v]].beta;
  for (std::size_t p = 0; p < active_.f.size(); ++p) active_.f[p] = -inner_.negative_gradient[p];
  return result;
}

}  // namespace maxmargin
