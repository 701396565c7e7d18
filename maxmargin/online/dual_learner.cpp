#include "maxmargin/online/dual_learner.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/field.hpp"
#include "maxmargin/base/text.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/online/expansion/panel_loops.hpp"

namespace maxmargin {
namespace {

/// from[i] -= sum over k of times[k] rows[k][i]
void subtract_sums(std::span<const double* const> rows, std::span<const double> times,
                   std::vector<double>& from) {
  const std::size_t whole = from.size() / 8 * 8;
  std::vector<double> sums(whole);
  panel_sums(rows, times, whole, sums.data());
  add_multiple(-1, sums.data(), whole, from.data());
  for (std::size_t k = 0; k < rows.size(); ++k)
    for (std::size_t i = whole; i < from.size(); ++i) from[i] -= times[k] * rows[k][i];
}

}  // namespace

DualLearner::DualLearner(DualLearnerOptions options)
    : options_(std::move(options)), rows_(options_.kernel), kernel_rows_(options_.cache_bytes) {
  visit_list([](const auto& kernel) { validate(kernel); }, options_.kernel);
  if (is_given(options_.kernel))
    throw Error(Fault::usage, "rows that come and go cannot number the features of each other",
                "choose another kernel than precomputed");
  if (!positive.contains(options_.cost) || !positive.contains(options_.tolerance))
    throw Error(Fault::usage, "cost and tolerance must be greater than 0", "choose other values");
  if (options_.window == 1)
    throw Error(Fault::usage, "a window of one row has nothing to tell apart",
                "choose a larger one");
}

void DualLearner::check(const StreamRow& x) const {
  if (!x.features.empty() && x.features.back() >= options_.most_features)
    throw Error(Fault::data,
                "a feature is beyond the " + std::to_string(options_.most_features) + " allowed",
                "number the features without large gaps");
  rows_.check(x);
}

void DualLearner::evaluate(const StreamRow& x) {
  check(x);
  const auto values = rows_.values(x);
  k_.assign(values.begin(), values.end());
  self_ = rows_.self(x);
  if (!sums_fit(self_) || !std::ranges::all_of(k_, [this](double k) { return sums_fit(k); }))
    throw Error(Fault::data, "the values of this row overflow", "scale the features");
  decision_.clear();
  for (const Dual& dual : machines_)
    decision_.push_back(inner_product(dual.alpha.data(), k_.data(), k_.size()) + dual.bias);
}

/// Whether no sum of such kernel values times feasible variables overflows. A row is checked before
/// it changes anything, and nothing can overflow afterwards.
bool DualLearner::sums_fit(double value) const {
  constexpr double most_rows = 1e9;
  return std::abs(value) * std::max(1.0, options_.cost) * most_rows <= largest_sum;
}

OnlinePrediction DualLearner::decide() const {
  OnlinePrediction prediction;
  if (classes_.empty()) return prediction;
  if (decision_.size() == 1) {
    prediction.class_number = decision_[0] > 0 || classes_.size() == 1 ? 0 : 1;
    prediction.margin = decision_[0];
    return prediction;
  }
  const auto best = std::ranges::max_element(decision_);
  prediction.class_number = static_cast<int>(best - decision_.begin());
  prediction.margin = infinity;
  for (auto each = decision_.begin(); each != decision_.end(); ++each)
    if (each != best) prediction.margin = std::min(prediction.margin, *best - *each);
  return prediction;
}

OnlinePrediction DualLearner::predict(const StreamRow& x) {
  evaluate(x);
  return decide();
}

int DualLearner::class_of(std::string_view name) const {
  const auto found = std::ranges::find(classes_, name);
  return found == classes_.end() ? -1 : static_cast<int>(found - classes_.begin());
}

Learned DualLearner::learn(const StreamRow& x, double label) {
  if (!std::isfinite(label))
    throw Error(Fault::data, "the label is not a finite number", "give a finite label");
  if (const int known = by_number_.find(label); known >= 0) return learn_row(x, known);
  const Learned learned = learn(x, std::string_view(shortest(label)));
  by_number_.add(label, class_of(shortest(label)));
  return learned;
}

Learned DualLearner::learn(const StreamRow& x, std::string_view label) {
  int number = class_of(label);
  if (number >= 0) return learn_row(x, number);
  if (classes_.size() >= options_.most_classes)
    throw Error(Fault::data,
                "there are more than " + std::to_string(options_.most_classes) + " classes",
                "check the labels");
  const OnlinePrediction before = predict(x);  // throws if the row cannot be taken
  number = static_cast<int>(classes_.size());
  classes_.emplace_back(label);
  add_class();
  Learned learned = learn_row(x, number);
  learned.before = before;
  learned.correct = false;
  return learned;
}

double DualLearner::target_of(std::size_t machine, int class_number) const {
  return class_number == static_cast<int>(machine) ? 1 : -1;
}

/// The first two classes are one machine. The third adds two machines, which start from the rows
/// that are held: that of the second class from minus the first one's alpha, its own from 0.
void DualLearner::add_class() {
  const std::size_t wanted = classes_.size() <= 2 ? 1 : classes_.size();
  while (machines_.size() < wanted) {
    Dual dual;
    const std::size_t number = machines_.size();
    dual.alpha.assign(rows_.slots(), 0.0);
    for (std::size_t i = 0; i < rows_.slots(); ++i)
      dual.y.push_back(rows_.used(i) ? target_of(number, class_[i]) : 0);
    if (number == 1 && !machines_.empty())
      for (std::size_t i = 0; i < rows_.slots(); ++i) dual.alpha[i] = -machines_[0].alpha[i];
    dual.gradient = dual.y;
    for (std::size_t i = 0; i < rows_.slots(); ++i) set_bounds(dual, i);
    machines_.push_back(std::move(dual));
    recompute_gradient(machines_.back());
    optimise(machines_.back());
    set_bias(machines_.back());
  }
}

Learned DualLearner::learn_row(const StreamRow& x, int class_number) {
  evaluate(x);
  Learned learned;
  learned.before = decide();
  learned.correct = learned.before.class_number == class_number;
  for (std::size_t m = 0; m < machines_.size(); ++m)
    learned.loss += std::max(0.0, 1 - target_of(m, class_number) * decision_[m]);
  ++steps_;
  if (options_.window > 0 && rows_.count() >= options_.window) remove(arrivals_.front().second);
  const std::size_t slot = add(x, class_number);
  for (Dual& dual : machines_) {
    if (options_.window > 0) {
      optimise(dual);
    } else {
      process(dual, slot);
      const ViolatingPair worst = worst_pair(dual);
      if (worst.highest - worst.lowest > options_.tolerance)
        step(dual, worst.up, best_partner(arrays(dual), worst.up, kernel_row(worst.up).data()));
    }
    set_bias(dual);
    learned.updated = learned.updated || dual.alpha[slot] != 0;
  }
  updates_ += learned.updated;
  if (options_.window == 0) remove_non_support_vectors();
  return learned;
}

std::size_t DualLearner::add(const StreamRow& x, int class_number) {
  const std::size_t slot = rows_.add(x);
  const std::size_t slots = rows_.slots();
  if (!x.features.empty()) columns_ = std::max(columns_, std::size_t{x.features.back()} + 1);
  k_.resize(slots, 0.0);
  k_[slot] = self_;
  class_.resize(slots, 0);
  class_[slot] = class_number;
  self_values_.resize(slots, 0.0);
  self_values_[slot] = rows_.self(slot);
  if (options_.window > 0) record_arrival(slot);
  kernel_rows_.add(slot, k_);
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    Dual& dual = machines_[m];
    dual.alpha.resize(slots, 0.0);
    dual.gradient.resize(slots, 0.0);
    dual.y.resize(slots, 0.0);
    dual.y[slot] = target_of(m, class_number);
    set_bounds(dual, slot);
    dual.gradient[slot] =
        dual.y[slot] - inner_product(dual.alpha.data(), k_.data(), dual.alpha.size());
  }
  // Steps accumulate rounding errors in the gradient.
  if (steps_ % (1000 + 4 * slots) == 0)
    for (Dual& dual : machines_) recompute_gradient(dual);
  return slot;
}

void DualLearner::record_arrival(std::size_t slot) {
  const std::pair arrival{rows_.row(slot).number, slot};
  arrivals_.insert(std::ranges::upper_bound(arrivals_, arrival), arrival);
}

void DualLearner::recompute_gradient(Dual& dual) {
  dual.gradient = dual.y;
  for (std::size_t i = 0; i < dual.alpha.size(); ++i) {
    if (dual.alpha[i] == 0) continue;
    const auto k = kernel_row(i);
    add_multiple(-dual.alpha[i], k.data(), k.size(), dual.gradient.data());
  }
}

void DualLearner::set_bounds(Dual& dual, std::size_t slot) const {
  dual.least.resize(dual.y.size(), 0.0);
  dual.most.resize(dual.y.size(), 0.0);
  dual.least[slot] = std::min(0.0, options_.cost * dual.y[slot]);
  dual.most[slot] = std::max(0.0, options_.cost * dual.y[slot]);
}
PairArrays DualLearner::arrays(const Dual& dual) const {
  return {dual.gradient.data(), dual.alpha.data(),   dual.least.data(),
          dual.most.data(),     self_values_.data(), dual.alpha.size()};
}
/// By how much alpha can increase, and decrease.
double DualLearner::room_up(const Dual& dual, std::size_t slot) {
  return dual.most[slot] - dual.alpha[slot];
}
double DualLearner::room_down(const Dual& dual, std::size_t slot) {
  return dual.alpha[slot] - dual.least[slot];
}
std::size_t DualLearner::slot_of_lowest(const Dual& dual, double gradient) {
  std::size_t i = 0;
  while (dual.gradient[i] != gradient || !(room_down(dual, i) > 0)) ++i;
  return i;
}

/// m(alpha) and M(alpha); both the bias where no pair can move.
ViolatingPair DualLearner::worst_pair(const Dual& dual) const {
  const ViolatingPair found = most_violating_pair(arrays(dual));
  if (found.up == dual.alpha.size() || found.lowest == infinity)
    return {dual.alpha.size(), dual.bias, dual.bias};
  return found;
}

void DualLearner::move(Dual& dual, std::size_t up, std::size_t down, double by) {
  dual.alpha[up] += by;
  dual.alpha[down] -= by;
  const auto k = kernel_row(up);
  add_multiple(-by, k.data(), k.size(), dual.gradient.data());
  const auto other = kernel_row(down);
  add_multiple(by, other.data(), other.size(), dual.gradient.data());
  ++pair_steps_;
}

void DualLearner::step(Dual& dual, std::size_t up, std::size_t down) {
  if (down == dual.alpha.size()) return;  // no pair gains anything in doubles
  const auto k = kernel_row(up);
  const double curvature = std::max(1e-12, k[up] + rows_.self(down) - 2 * k[down]);
  const double gap = dual.gradient[up] - dual.gradient[down];
  const double up_room = room_up(dual, up), down_room = room_down(dual, down);
  const double by = std::min({gap / curvature, up_room, down_room});
  if (!(by > 0)) return;
  move(dual, up, down, by);
  // What reaches a bound lies on it exactly.
  if (by == up_room) dual.alpha[up] = dual.most[up];
  if (by == down_room) dual.alpha[down] = dual.least[down];
}

void DualLearner::process(Dual& dual, std::size_t slot) {
  const ViolatingPair worst = worst_pair(dual);
  if (worst.up == dual.alpha.size()) return;
  const std::size_t up = dual.y[slot] > 0 ? slot : worst.up;
  const std::size_t down = dual.y[slot] > 0 ? slot_of_lowest(dual, worst.lowest) : slot;
  if (dual.gradient[up] - dual.gradient[down] > options_.tolerance) step(dual, up, down);
}

/// Adds the free rows and those that violate the KKT conditions at the last bias: few, after one
/// row was added or removed. optimise() checks all rows again when the active ones are solved.
void DualLearner::add_to_active(const Dual& dual, const ViolatingPair& worst) {
  movable_.clear();
  movable_rows(arrays(dual), std::clamp(dual.bias, worst.lowest, worst.highest), movable_);
  for (const std::size_t i : movable_)
    if (!active_.has(i))
      active_.add(i, dual.alpha[i], dual.gradient[i], dual.least[i], dual.most[i], self_values_[i]);
}

void DualLearner::optimise(Dual& dual) {
  std::size_t left = 1000 + 100 * dual.alpha.size();
  active_.clear();
  while (left > 0) {
    const ViolatingPair worst = worst_pair(dual);
    if (worst.highest - worst.lowest <= options_.tolerance) return;
    add_to_active(dual, worst);
    const std::size_t steps = active_.solve(options_.tolerance, left,
                                            [this](std::size_t slot) { return kernel_row(slot); });
    if (steps == 0) return;  // the gradient's rounding errors exceed the violation
    left -= steps;
    pair_steps_ += steps;
    update_from(dual, active_);
    for (std::size_t i = 0; i < active_.size(); ++i)
      active_.set_gradient(i, dual.gradient[active_.slot(i)]);
  }
}

/// Up to valid_answers kernel rows are summed first, so that the gradient is read once for all of
/// them.
void DualLearner::update_from(Dual& dual, const ActivePairs& active) {
  constexpr std::size_t most = KernelRows::valid_answers;
  const double* rows[most];
  double times[most];
  std::size_t count = 0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const std::size_t slot = active.slot(i);
    const double by = active.alpha(i) - dual.alpha[slot];
    if (by == 0) continue;
    dual.alpha[slot] = active.alpha(i);
    rows[count] = kernel_row(slot).data();
    times[count] = by;
    if (++count < most) continue;
    subtract_sums({rows, count}, {times, count}, dual.gradient);
    count = 0;
  }
  subtract_sums({rows, count}, {times, count}, dual.gradient);
}

bool DualLearner::finish() {
  for (Dual& dual : machines_) {
    optimise(dual);
    set_bias(dual);
  }
  return true;
}

void DualLearner::set_bias(Dual& dual) {
  const ViolatingPair last = worst_pair(dual);
  dual.bias = (last.highest + last.lowest) / 2;
}

/// Gives the alpha of a row to other rows, first to those where the objective falls most, so that
/// the sum stays 0.
void DualLearner::transfer_alpha(Dual& dual, std::size_t slot) {
  const bool up = dual.alpha[slot] > 0;
  // Excludes the row itself from the pairs.
  dual.least[slot] = infinity;
  dual.most[slot] = -infinity;
  while (dual.alpha[slot] != 0) {
    const ViolatingPair found = most_violating_pair(arrays(dual));
    // Only rounding leaves no row with room.
    if (up ? found.up == dual.alpha.size() : found.lowest == infinity) break;
    const std::size_t best = up ? found.up : slot_of_lowest(dual, found.lowest);
    const double room = up ? room_up(dual, best) : room_down(dual, best);
    const double rest = std::abs(dual.alpha[slot]), by = std::min(rest, room);
    if (up)
      move(dual, best, slot, by);
    else
      move(dual, slot, best, by);
    if (by == rest) dual.alpha[slot] = 0;
    if (by == room) dual.alpha[best] = up ? dual.most[best] : dual.least[best];
  }
}

void DualLearner::remove(std::size_t slot) {
  for (Dual& dual : machines_) {
    if (dual.alpha[slot] != 0) transfer_alpha(dual, slot);
    dual.alpha[slot] = dual.gradient[slot] = dual.y[slot] = 0;
    set_bounds(dual, slot);
  }
  kernel_rows_.remove(slot);
  if (options_.window > 0)
    arrivals_.erase(
        std::ranges::find(arrivals_, slot, &std::pair<std::uint64_t, std::size_t>::second));
  rows_.remove(slot);
}

bool DualLearner::forget(std::uint64_t number) {
  for (std::size_t i = 0; i < rows_.slots(); ++i) {
    if (!rows_.used(i) || rows_.row(i).number != number) continue;
    remove(i);
    if (options_.window > 0) finish();
    for (Dual& dual : machines_) set_bias(dual);
    return true;
  }
  return false;
}

/// LASVM's removal: rows with alpha = 0 in all machines whose gradient lies outside of
/// [M(alpha), m(alpha)] on the side where alpha stays 0.
void DualLearner::remove_non_support_vectors() {
  std::vector<std::pair<double, double>> margins;
  for (const Dual& dual : machines_) {
    const ViolatingPair last = worst_pair(dual);
    if (last.up == dual.alpha.size()) return;
    margins.emplace_back(last.highest, last.lowest);
  }
  for (std::size_t i = 0; i < rows_.slots(); ++i) {
    if (!rows_.used(i)) continue;
    bool beyond = true;
    for (std::size_t m = 0; m < machines_.size() && beyond; ++m) {
      const Dual& dual = machines_[m];
      const auto [highest, lowest] = margins[m];
      beyond = dual.alpha[i] == 0 &&
               (dual.y[i] > 0 ? dual.gradient[i] <= lowest : dual.gradient[i] >= highest);
    }
    if (beyond) remove(i);
  }
}

}  // namespace maxmargin
