#include "maxmargin/solver/smo/set/set_values.hpp"

#include <algorithm>
#include <numeric>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/sub_problem.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t rows_per_task = 64;

bool picking_pays(const Quadratic& K, const RowCache& cache, const CostModel& costs) {
  const bool near = cache.size() * K.size() <= costs.cached_values;
  return K.value_cost() >= (near ? costs.pick_cached_value : costs.pick_value);
}

/// Two variables of one pair row may, without curvature.
bool may_share_points(const Active& active, std::span<const Index> set,
                      std::span<const Index> number) {
  if (active.rows() > 1) return true;
  std::vector<std::size_t> variables(set.size(), 0);
  std::size_t most = 0;
  bool is_curved = false;
  for (std::size_t k = 0; k < set.size(); ++k) {
    most = std::max(most, ++variables[number[k]]);
    is_curved = is_curved || active.curvature[set[k]] != 0;
  }
  return most <= (is_curved ? 1 : 2);
}

}  // namespace

const SetKernel& SetValues::fill(const Active& active, const CoupledRows& coupling,
                                 std::span<const Index> set, const RowCache& cache,
                                 const Context& context) {
  const Threads& threads = context.threads;
  const std::vector<Index> points = points_of(active.point, set);
  numbers_ = positions_of(active.point, set, points);
  over_points_.resize(points.size());
  gather(active, points, over_points_, cache, context);
  if (coupling.empty() && may_share_points(active, set, numbers_)) return over_points_;
  over_variables_.resize(set.size());
  spread(set, threads);
  if (!coupling.empty()) add(coupling, active, set, threads);
  std::iota(numbers_.begin(), numbers_.end(), Index{0});
  return over_variables_;
}

void SetValues::gather(const Active& active, std::span<const Index> points, SetKernel& values,
                       const RowCache& cache, const Context& context) {
  const Threads& threads = context.threads;
  const bool picking = picking_pays(*active.K, cache, context.costs);
  std::vector<Index> held, missing, missing_points;  // positions among the points
  for (std::size_t p = 0; p < points.size(); ++p) {
    const bool is_held = picking && cache.holds(points[p]);
    (is_held ? held : missing).push_back(static_cast<Index>(p));
    if (!is_held) missing_points.push_back(points[p]);
  }
  if (!held.empty()) context.note(Way::picked_values);
  threads.split(held.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      cache.pick(points[held[k]], points, values.row(held[k]));
  });
  if (missing.empty()) return;
  SetKernel& computed = held.empty() ? values : between_missing_;
  if (!held.empty()) computed.resize(missing.size());
  std::vector<Index> all(missing.size());
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<float*> out;
  for (const Index k : all) out.push_back(computed.row(k));
  active.K->among(missing_points, all, out, threads);
  if (held.empty()) return;
  threads.split(missing.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      float* row = values.row(missing[k]);
      for (std::size_t i = 0; i < missing.size(); ++i) row[missing[i]] = computed.row(k)[i];
      for (const Index p : held) row[p] = values.row(p)[missing[k]];
    }
  });
}

void SetValues::spread(std::span<const Index> set, const Threads& threads) {
  threads.split(set.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      const float* from = over_points_.row(numbers_[k]);
      float* to = over_variables_.row(k);
      for (std::size_t i = 0; i < set.size(); ++i) to[i] = from[numbers_[i]];
    }
  });
}

void SetValues::add(const CoupledRows& coupling, const Active& active, std::span<const Index> set,
                    const Threads& threads) {
  threads.split(set.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
      for (std::size_t i = 0; i < set.size(); ++i)
        over_variables_.row(k)[i] +=
            static_cast<float>(coupling.kernel(active.id[set[k]], active.id[set[i]]));
  });
}

}  // namespace maxmargin
