#include "maxmargin/solver/smo/shrinker.hpp"

#include <algorithm>
#include <utility>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

// Outer iterations between two attempts to shrink.
constexpr std::size_t iterations_between_looks = 10;

}  // namespace

Shrinker::Shrinker(SmoState& state, const Threads& hurried)
    : state_(state), allowed_(state.options.shrinking) {
  full_coefficients_ = state.point_coefficients();
  full_f_ = state.run.start_f;
  if (full_f_.empty()) {
    full_f_.resize(state.qp.K->size());
    state.qp.K->multiply(full_coefficients_, full_f_, state.run.precision, hurried);
  }
  state.active.f = full_f_;
}

/// To restore f at the points left out takes about as many kernel values as the whole run.
/// Shrinking pays where values are cheap and rows are computed repeatedly, not where rows are
/// expensive and cached.
bool Shrinker::pays() const {
  const SmoState& s = state_;
  return !stores_truncated_rows(*s.active.K) &&
         (s.active.K->value_cost() < s.run.costs.touch_value ||
          (s.cache.capacity() < s.active.f.size() && s.cache.lacks_room_for(s.set_size.largest)));
}

bool Shrinker::shrink(const Active::Gradient& gradient) {
  if (!allowed_ || !pays() || ++since_last_ < iterations_between_looks) return false;
  since_last_ = 0;
  SmoState& s = state_;
  const std::vector<bool> shrinkable = s.active.shrinkable(gradient, gradient.violation());
  const auto leaving = std::count(shrinkable.begin(), shrinkable.end(), true);
  if (static_cast<double>(leaving) <
      (1 - s.run.costs.pairs.most_remaining) * static_cast<double>(s.active.size()))
    return false;
  s.collect();
  if (!s.is_shrunk()) {
    full_f_ = s.active.f;
    full_coefficients_ = s.point_coefficients();
  }
  s.run.note(Way::shrinking);
  const std::vector<Index> points = s.active.leave_out(shrinkable);
  s.cache.restrict_to(s.active.K, points, s.run.threads);
  return true;
}

void Shrinker::restore() {
  SmoState& s = state_;
  std::vector<double> now = s.point_coefficients(), difference(now.size()), product(now.size());
  for (std::size_t p = 0; p < now.size(); ++p) difference[p] = now[p] - full_coefficients_[p];
  s.qp.K->multiply(difference, product, Precision::fast, s.run.threads);
  for (std::size_t p = 0; p < now.size(); ++p) full_f_[p] += product[p];
  full_coefficients_ = std::move(now);
  s.active = Active(s.qp, s.kinds, s.variables());
  s.active.f = full_f_;
  s.coupling.measure(s.beta);
  s.apply_multipliers();
  s.cache.release();
  s.cache = RowCache(s.qp.K, s.options.cache_bytes, s.set_size.largest);
}

}  // namespace maxmargin
