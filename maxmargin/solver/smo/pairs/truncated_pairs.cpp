#include "maxmargin/solver/smo/pairs/truncated_pairs.hpp"

#include <hwy/cache_control.h>

#include <algorithm>

#include "maxmargin/solver/smo/candidate.hpp"
#include "maxmargin/solver/smo/pair_step.hpp"

namespace maxmargin {
namespace {

constexpr Index none = static_cast<Index>(-1);
// Rows are computed when the violation among points with rows is below this share of that of all.
constexpr double truncated_rows_worth = 0.4;
// Rows that are computed at once: a share of all, and no fewer than these.
constexpr std::size_t truncated_rows_share = 64, least_truncated_rows = 64;

/// The value of a row at a point; 0 where it is negligible.
double value_at(const BlockRow& row, std::size_t point) {
  const auto found = std::ranges::lower_bound(row.blocks, point / block_columns);
  if (found == row.blocks.end() || *found != point / block_columns) return 0;
  const auto block = static_cast<std::size_t>(found - row.blocks.begin());
  return static_cast<double>(row.values[block_columns * block + point % block_columns]);
}

/// Rows lie anywhere in memory; prefetching hides the latency.
void prefetch(const BlockRow& row) {
  for (std::size_t k = 0; k < row.blocks.size(); ++k) hwy::Prefetch(row.values + block_columns * k);
}

}  // namespace

bool TruncatedPairs::can_take(const Active& active, const CoupledRows& coupling) {
  return active.rows() == 1 && coupling.empty() && stores_truncated_rows(*active.K) &&
         active.K->can().truncated->shift() == 0;
}

TruncatedPairs::TruncatedPairs(Active& active)
    : active_(active), rows_(*active.K->can().stored), gradient_(active.f.size()) {
  gather(active);
  Active::Range range;
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const Missing here = look(p);
    range.highest = std::max(range.highest, here.growth - active.f[p]);
    range.lowest = std::min(range.lowest, here.fall - active.f[p]);
    if (rows_.truncated_row(static_cast<Index>(p)))
      show(p);
    else
      missing_.push_back(here);
  }
  base_ = range.middle();
  for (std::size_t p = 0; p < points_.size(); ++p)
    gradient_.set_negative_gradient(p, -active.f[p] - base_);
  gradient_.measure_all();
}

void TruncatedPairs::gather(const Active& active) {
  const auto diagonal = active.K->diagonal();
  for (const double value : diagonal) points_.push_back({value, none, none, none});
  variables_.resize(active.size());
  for (std::size_t v = active.size(); v-- > 0;) {
    Index& first = points_[active.point[v]].first;
    variables_[v] = {active.beta[v],   active.lower[v],     active.upper[v],
                     active.linear[v], active.curvature[v], first};
    first = static_cast<Index>(v);
  }
}

/// The variables of a point that can grow and fall most, and what they add to its negative
/// gradient.
TruncatedPairs::Missing TruncatedPairs::look(std::size_t point) {
  Point& here = points_[point];
  here.growing = here.falling = none;
  Missing result{-infinity, infinity, static_cast<Index>(point)};
  for (Index v = here.first; v != none; v = variables_[v].next) {
    const Variable& each = variables_[v];
    const double own = -(each.linear + each.curvature * each.beta);
    if (each.beta < each.upper && own > result.growth) {
      result.growth = own;
      here.growing = v;
    }
    if (each.beta > each.lower && own < result.fall) {
      result.fall = own;
      here.falling = v;
    }
  }
  return result;
}

void TruncatedPairs::show(std::size_t point) {
  const Missing now = look(point);
  const Index falling = points_[point].falling;
  gradient_.set_variables(point, now.growth, now.fall,
                          falling == none ? points_[point].diagonal : curvature(point, falling));
}

TruncatedPairs::Result TruncatedPairs::improve(double target, std::size_t most_steps,
                                               const Threads& threads) {
  Result result;
  while (result.steps < most_steps && !result.lacks_room) {
    const double high = gradient_.highest().value, low = gradient_.lowest().value;
    const Active::Range missing = missing_ends();
    const Active::Range all{std::max(high, missing.highest), std::min(low, missing.lowest)};
    if (!(all.violation() > target)) break;
    const double aim = std::max(target, truncated_rows_worth * all.violation());
    if (high - low <= aim) {
      compute_rows(all, threads, result);
      continue;
    }
    const std::size_t before = result.steps;
    step_until(aim, most_steps, result);
    if (result.steps == before) break;
  }
  for (std::size_t v = 0; v < variables_.size(); ++v) active_.beta[v] = variables_[v].beta;
  for (std::size_t p = 0; p < points_.size(); ++p)
    active_.f[p] = -(gradient_.negative_gradient(p) + base_);
  return result;
}

void TruncatedPairs::step_until(double target, std::size_t most_steps, Result& result) {
  while (result.steps < most_steps) {
    const GroupedGradient::End high = gradient_.highest(), low = gradient_.lowest();
    if (!(high.value - low.value > target)) return;
    prefetch(row(low.point));
    const double decrease = step(choose(high, low, row(high.point)));
    if (decrease == 0) return;
    result.decrease += decrease;
    ++result.steps;
  }
}

/// The better of two partners: the lowest gradient of all points, where the kernel value is mostly
/// 0, and the best among the points of the row, where the curvature is smaller.
TruncatedPairs::Pair TruncatedPairs::choose(const GroupedGradient::End& high,
                                            const GroupedGradient::End& low,
                                            const BlockRow& row) const {
  const double own = curvature(high.point, points_[high.point].growing);
  const auto gain = [&](const Pair& pair) {
    const double by = std::max(high.value - gradient_.down(pair.down), 0.0);
    const double other = curvature(pair.down, points_[pair.down].falling);
    return by * by / std::max(own + other - 2 * pair.value, least_pair_curvature);
  };
  const Pair far{high.point, low.point, value_at(row, low.point)};
  const GroupedGradient::Partner found = gradient_.best_partner(row, high.value, own);
  if (found.gain == 0 || found.point == low.point) return far;
  const Pair near{high.point, found.point, value_at(row, found.point)};
  return gain(near) > gain(far) ? near : far;
}

/// Returns the decrease of the objective, 0 where rounding allows none.
double TruncatedPairs::step(const Pair& pair) {
  const BlockRow row_up = row(pair.up), row_down = row(pair.down);
  prefetch(row_down);
  const Index i = points_[pair.up].growing, j = points_[pair.down].falling;
  Variable &grown = variables_[i], &fallen = variables_[j];
  const double bottom = std::max(curvature(pair.up, i) + curvature(pair.down, j) - 2 * pair.value,
                                 least_pair_curvature);
  const double by = gradient_.up(pair.up) - gradient_.down(pair.down);
  const PairStep step = move_pair(grown, fallen, by, bottom);
  if (step.length == 0) return 0;
  show(pair.up);
  show(pair.down);
  if (pair.up == pair.down) {
    gradient_.measure(pair.up);
  } else {
    gradient_.move(row_up, step.length);
    gradient_.move(row_down, -step.length);
  }
  return step.decrease;
}

Active::Range TruncatedPairs::missing_ends() const {
  Active::Range range;
  for (const Missing& each : missing_) {
    const double negative_gradient = gradient_.negative_gradient(each.point);
    range.highest = std::max(range.highest, negative_gradient + each.growth);
    range.lowest = std::min(range.lowest, negative_gradient + each.fall);
  }
  return range;
}

/// The most violating points without a row.
std::vector<Index> TruncatedPairs::worst_missing(const Active::Range& ends) const {
  std::vector<Candidate> all;
  for (const Missing& each : missing_) {
    const double negative_gradient = gradient_.negative_gradient(each.point);
    const double by = std::max(negative_gradient + each.growth - ends.lowest,  //
                               ends.highest - negative_gradient - each.fall);
    if (by > 0) all.push_back({by, each.point, each.point});
  }
  const std::size_t most = std::max(least_truncated_rows, points_.size() / truncated_rows_share);
  keep_worst(all, most);
  std::vector<Index> points;
  for (const Candidate& each : all) points.push_back(each.v);
  return points;
}

void TruncatedPairs::compute_rows(const Active::Range& ends, const Threads& threads,
                                  Result& result) {
  const std::vector<Index> some = worst_missing(ends);
  rows_.keep(some, threads);
  for (const Index point : some) {
    if (rows_.truncated_row(point)) {
      ++result.computed;
      show(point);
      gradient_.measure(point);
    } else {
      result.lacks_room = true;
    }
  }
  std::erase_if(missing_,
                [&](const Missing& each) { return rows_.truncated_row(each.point).has_value(); });
}

}  // namespace maxmargin
