#include "maxmargin/solver/smo/strategies.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/solver/smo/pairs/cached_pairs.hpp"
#include "maxmargin/solver/smo/pairs/truncated_pairs.hpp"

namespace maxmargin {
namespace {

// A working set is solved to this share of its violation, as the next set would undo further steps;
// where kernel values are cheap, to a larger share.
constexpr double inner_share = 0.1;
constexpr double cheap_inner_share = 0.2;

std::vector<bool> precious(const Active& active) {
  std::vector<bool> result(active.point_id.size(), false);
  for (std::size_t v = 0; v < active.size(); ++v)
    if (active.is_free(v)) result[active.point[v]] = true;
  return result;
}

/// Rows of points at a bound are mostly not needed again, and cheap ones are recomputed in about
/// the time that fresh memory for them takes.
RowCache::Wishes wishes(const SmoState& state, const std::vector<Index>& set,
                        const std::vector<Index>& changed) {
  const Active& active = state.active;
  std::vector<Index> free;
  for (const Index v : set)
    if (active.is_free(v)) free.push_back(active.point[v]);
  std::sort(free.begin(), free.end());
  const bool cheap = active.K->value_cost() < state.run.costs.touch_value;
  const bool cheapest = active.K->value_cost() < state.run.costs.read_value;
  RowCache::Wishes wishes;
  wishes.keep.resize(changed.size());
  std::size_t wanted = 0;
  for (std::size_t k = 0; k < changed.size(); ++k) {
    wishes.keep[k] =
        !cheap || (!cheapest && std::binary_search(free.begin(), free.end(), changed[k]));
    wanted += wishes.keep[k];
  }
  if (state.cache.lacks_room_for(wanted)) wishes.precious = precious(active);
  return wishes;
}

/// Pairs among all variables where rows are stored without their negligible values.
class PairsOfTruncatedRows final : public Strategy {
 public:
  bool takes(const SmoState& state) override {
    return steps_ < most_steps(state) && TruncatedPairs::can_take(state.active, state.coupling);
  }
  double improve(SmoState& state, const Active::Gradient&) override {
    TruncatedPairs pairs(state.active);
    const TruncatedPairs::Result result =
        pairs.improve(state.goal, TruncatedPairs::at_once, state.run.threads);
    state.steps += result.steps;
    if (result.steps > 0) state.run.note(Way::truncated_pairs);
    steps_ += result.lacks_room ? most_steps(state) : result.steps;
    state.work += state.run.costs.sparse_pair_step * static_cast<double>(result.steps) +
                  state.active.K->value_cost() * static_cast<double>(result.computed) *
                      static_cast<double>(state.active.f.size());
    return result.decrease;
  }

 private:
  /// Before working sets take over.
  static std::size_t most_steps(const SmoState& state) {
    return state.run.costs.pairs.most_sparse_steps * state.qp.size();
  }

  std::size_t steps_ = 0;
};

/// Pairs among all variables where rows are expensive and cached, and sets of few variables take
/// them again and again.
class PairsOfCachedRows final : public Strategy {
 public:
  explicit PairsOfCachedRows(WorkingSets& sets) : sets_(sets) {}

  bool takes(const SmoState& state) override {
    if (takes_) return *takes_;
    if (state.set_size.now > state.set_size.least ||
        sets_.rows_taken() <= state.run.costs.pairs.rows_taken_again * state.cache.size() ||
        state.active.K->value_cost() < state.run.costs.touch_value)
      return false;
    takes_ = CachedPairs::can_take(state.active, state.coupling, state.cache);
    return *takes_;
  }
  double improve(SmoState& state, const Active::Gradient&) override {
    CachedPairs pairs(state.active, state.cache);
    const CachedPairs::Result result = pairs.improve(state.goal, CachedPairs::at_once, state.run);
    if (result.steps > 0) state.run.note(Way::cached_pairs);
    state.steps += result.steps;
    state.work += result.work;
    sets_.moved();
    return result.decrease;
  }
  /// Whether there is room for all rows depends on the size.
  void resized() override { takes_.reset(); }

 private:
  WorkingSets& sets_;
  std::optional<bool> takes_;
};

}  // namespace

/// In the order of the equality rows and then of the points.
std::vector<Index> WorkingSets::choose(SmoState& state, const Active::Gradient& gradient) {
  const Active& active = state.active;
  std::vector<Index> set =
      chooser_.choose(state.active, gradient, state.set_size.now, state.run.threads);
  std::vector<std::pair<std::uint64_t, Index>> order(set.size());
  for (std::size_t k = 0; k < set.size(); ++k)
    order[k] = {std::uint64_t{active.row[set[k]]} << 32 | active.point[set[k]], set[k]};
  std::sort(order.begin(), order.end());
  for (std::size_t k = 0; k < set.size(); ++k) set[k] = order[k].second;
  return set;
}

double WorkingSets::improve(SmoState& state, const Active::Gradient& gradient) {
  Active& active = state.active;
  const std::vector<Index> set = choose(state, gradient);
  const SetKernel& kernel = values_.fill(active, state.coupling, set, state.cache, state.run);
  Active part(active, set, values_.numbers());
  // The method of multipliers needs more exact sets.
  const bool cheap = active.K->value_cost() < state.run.costs.touch_value && state.coupling.empty();
  const double share = cheap ? cheap_inner_share : inner_share;
  const double target = std::max(share * gradient.violation(), state.goal / 2);
  const std::size_t steps = solver_.solve(part, kernel, target, state.run);
  state.steps += steps;
  if (set.size() < state.qp.size()) state.run.note(Way::working_sets);

  change_.resize(state.qp.K->size(), 0.0);
  double decrease = 0;
  std::size_t moved_variables = 0;
  std::vector<Index> changed;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const double moved = part.beta[k] - active.beta[set[k]];
    if (moved == 0) continue;
    decrease += moved * (active.negative_gradient(set[k]) + part.negative_gradient(k)) / 2;
    active.beta[set[k]] = part.beta[k];
    change_[active.point[set[k]]] += moved;
    state.coupling.move(active.id[set[k]], moved);
    changed.push_back(active.point[set[k]]);
    ++moved_variables;
  }
  state.apply_multipliers();
  state.set_size.adapt(set.size(), moved_variables, steps);
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  rows_taken_ += changed.size();
  std::vector<double> coefficients(changed.size());
  for (std::size_t k = 0; k < changed.size(); ++k)
    coefficients[k] = std::exchange(change_[changed[k]], 0.0);
  state.cache.add(changed, coefficients, wishes(state, set, changed), active.f, state.run.threads);
  state.work +=
      state.run.costs.pair_step * static_cast<double>(steps) * static_cast<double>(set.size()) +
      active.K->value_cost() * static_cast<double>(changed.size()) *
          static_cast<double>(active.f.size());
  return decrease;
}

std::vector<std::unique_ptr<Strategy>> smo_strategies() {
  auto sets = std::make_unique<WorkingSets>();
  std::vector<std::unique_ptr<Strategy>> list;
  list.push_back(std::make_unique<PairsOfTruncatedRows>());
  list.push_back(std::make_unique<PairsOfCachedRows>(*sets));
  list.push_back(std::move(sets));
  return list;
}

}  // namespace maxmargin
