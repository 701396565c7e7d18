#include "maxmargin/online/dual_learner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/field.hpp"
#include "maxmargin/online/panel_loops.hpp"

namespace maxmargin {
namespace {

std::string text_of_number(double label) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, label).ptr};
}

}  // namespace

DualLearner::DualLearner(DualLearnerOptions options)
    : options_(std::move(options)), rows_(options_.kernel) {
  std::visit([](const auto& kernel) { validate(kernel); }, options_.kernel);
  if (std::holds_alternative<Precomputed>(options_.kernel))
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
  bool fits = std::isfinite(self_);
  decision_.clear();
  for (const Dual& dual : machines_) {
    decision_.push_back(inner_product(dual.alpha.data(), k_.data(), k_.size()) + dual.bias);
    fits = fits && std::isfinite(decision_.back());
  }
  if (!fits) throw Error(Fault::data, "the values of this row overflow", "scale the features");
}

OnlinePrediction DualLearner::decide() const {
  OnlinePrediction said;
  if (classes_.empty()) return said;
  if (decision_.size() == 1) {
    said.class_number = decision_[0] > 0 || classes_.size() == 1 ? 0 : 1;
    said.margin = decision_[0];
    return said;
  }
  const auto best = std::ranges::max_element(decision_);
  said.class_number = static_cast<int>(best - decision_.begin());
  said.margin = infinity;
  for (auto each = decision_.begin(); each != decision_.end(); ++each)
    if (each != best) said.margin = std::min(said.margin, *best - *each);
  return said;
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
  const auto known = by_number_.find(label);
  if (known != by_number_.end()) return learn_row(x, known->second);
  const Learned learned = learn(x, std::string_view(text_of_number(label)));
  by_number_.emplace(label, class_of(text_of_number(label)));
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
  open_class();
  Learned learned = learn_row(x, number);
  learned.before = before;
  learned.correct = false;
  return learned;
}

double DualLearner::target_of(std::size_t machine, int class_number) const {
  return class_number == static_cast<int>(machine) ? 1 : -1;
}

/// The second class makes no machine: it is the other side of the first. The third makes two, which
/// see the rows that are held.
void DualLearner::open_class() {
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
    machines_.push_back(std::move(dual));
    refresh(machines_.back());
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
  if (options_.window > 0 && rows_.count() >= options_.window) {
    std::size_t oldest = rows_.slots();
    for (std::size_t i = 0; i < rows_.slots(); ++i)
      if (rows_.used(i) &&
          (oldest == rows_.slots() || rows_.row(i).number < rows_.row(oldest).number))
        oldest = i;
    remove(oldest);
  }
  const std::size_t slot = add(x, class_number);
  for (Dual& dual : machines_) {
    if (options_.window > 0) {
      optimise(dual);
    } else {
      process(dual, slot);
      const Pair pair = worst_pair(dual, Order::second);
      if (pair.violation > options_.tolerance) step(dual, pair.up, pair.down);
    }
    set_bias(dual);
    learned.updated = learned.updated || dual.alpha[slot] != 0;
  }
  updates_ += learned.updated;
  if (options_.window == 0) let_go();
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
  kept_.resize(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    if (kept_[i].empty()) continue;
    kept_[i].resize(slots, 0.0);
    kept_[i][slot] = k_[i];
  }
  for (std::size_t m = 0; m < machines_.size(); ++m) {
    Dual& dual = machines_[m];
    dual.alpha.resize(slots, 0.0);
    dual.gradient.resize(slots, 0.0);
    dual.y.resize(slots, 0.0);
    dual.y[slot] = target_of(m, class_number);
    dual.gradient[slot] =
        dual.y[slot] - inner_product(dual.alpha.data(), k_.data(), dual.alpha.size());
  }
  // Rounding of the steps adds up slowly; each of them is a sum of its own again now and then.
  if (steps_ % (1000 + 4 * slots) == 0)
    for (Dual& dual : machines_) refresh(dual);
  return slot;
}

std::span<const double> DualLearner::kernel_row(std::size_t slot) {
  const std::size_t slots = rows_.slots();
  if (!kept_[slot].empty()) return kept_[slot];
  const auto values = rows_.values(slot);
  if ((kept_count_ + 1) * slots * sizeof(double) <= options_.cache_bytes) {
    kept_[slot].assign(values.begin(), values.end());
    ++kept_count_;
    return kept_[slot];
  }
  next_scratch_ = 1 - next_scratch_;
  scratch_[next_scratch_].assign(values.begin(), values.end());
  return scratch_[next_scratch_];
}

void DualLearner::refresh(Dual& dual) {
  dual.gradient = dual.y;
  for (std::size_t i = 0; i < dual.alpha.size(); ++i) {
    if (dual.alpha[i] == 0) continue;
    const auto k = kernel_row(i);
    add_multiple(-dual.alpha[i], k.data(), k.size(), dual.gradient.data());
  }
}

double DualLearner::least(const Dual& dual, std::size_t slot) const {
  return std::min(0.0, options_.cost * dual.y[slot]);
}
double DualLearner::most(const Dual& dual, std::size_t slot) const {
  return std::max(0.0, options_.cost * dual.y[slot]);
}
/// How far alpha can go up, and down.
double DualLearner::room_up(const Dual& dual, std::size_t slot) const {
  return most(dual, slot) - dual.alpha[slot];
}
double DualLearner::room_down(const Dual& dual, std::size_t slot) const {
  return dual.alpha[slot] - least(dual, slot);
}

/// The pair that violates optimality most, or that gains most with the first of these.
DualLearner::Pair DualLearner::worst_pair(const Dual& dual, Order order) {
  const std::size_t slots = dual.alpha.size();
  Pair pair{slots, slots, 0};
  double highest = -infinity, lowest = infinity;
  for (std::size_t i = 0; i < slots; ++i) {
    if (dual.gradient[i] > highest && room_up(dual, i) > 0) {
      highest = dual.gradient[i];
      pair.up = i;
    }
    if (dual.gradient[i] < lowest && room_down(dual, i) > 0) {
      lowest = dual.gradient[i];
      pair.down = i;
    }
  }
  if (pair.up == slots || pair.down == slots) return {slots, slots, 0};
  pair.violation = highest - lowest;
  if (order == Order::first || pair.violation <= options_.tolerance) return pair;
  const auto k = kernel_row(pair.up);
  double best = 0;
  for (std::size_t j = 0; j < slots; ++j) {
    const double gap = highest - dual.gradient[j];
    if (gap <= 0 || !(room_down(dual, j) > 0)) continue;
    const double curvature = std::max(1e-12, k[pair.up] + rows_.self(j) - 2 * k[j]);
    if (gap * gap > best * curvature) {
      best = gap * gap / curvature;
      pair.down = j;
    }
  }
  return pair;
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

bool DualLearner::step(Dual& dual, std::size_t up, std::size_t down) {
  const auto k = kernel_row(up);
  const double curvature = std::max(1e-12, k[up] + rows_.self(down) - 2 * k[down]);
  const double gap = dual.gradient[up] - dual.gradient[down];
  const double up_room = room_up(dual, up), down_room = room_down(dual, down);
  const double by = std::min({gap / curvature, up_room, down_room});
  if (!(by > 0)) return false;
  move(dual, up, down, by);
  // At a bound it is the bound, to the last bit.
  if (by == up_room) dual.alpha[up] = most(dual, up);
  if (by == down_room) dual.alpha[down] = least(dual, down);
  return true;
}

void DualLearner::process(Dual& dual, std::size_t slot) {
  const Pair pair = worst_pair(dual, Order::first);
  const std::size_t slots = dual.alpha.size();
  if (pair.up == slots) return;
  const std::size_t up = dual.y[slot] > 0 ? slot : pair.up;
  const std::size_t down = dual.y[slot] > 0 ? pair.down : slot;
  if (dual.gradient[up] - dual.gradient[down] > options_.tolerance) step(dual, up, down);
}

/// Rows that are free or on the wrong side of where the bias was: few, where one row came or went.
/// The others are looked at again when these have come to rest.
void DualLearner::widen_active(const Dual& dual, const Pair& worst) {
  const double highest = dual.gradient[worst.up], lowest = highest - worst.violation;
  const double middle = std::clamp(dual.bias, lowest, highest);
  for (std::size_t i = 0; i < dual.alpha.size(); ++i) {
    if (active_.has(i)) continue;
    const double g = dual.gradient[i];
    const bool rises = room_up(dual, i) > 0, falls = room_down(dual, i) > 0;
    if ((rises && (falls || g >= middle)) || (falls && g <= middle))
      active_.add(i, dual.alpha[i], g, least(dual, i), most(dual, i), rows_.self(i));
  }
}

void DualLearner::optimise(Dual& dual) {
  std::size_t left = 1000 + 100 * dual.alpha.size();
  active_.clear();
  while (left > 0) {
    const Pair worst = worst_pair(dual, Order::first);
    if (worst.violation <= options_.tolerance) return;
    widen_active(dual, worst);
    const std::size_t steps = active_.solve(options_.tolerance, left,
                                            [this](std::size_t slot) { return kernel_row(slot); });
    if (steps == 0) return;  // the gap is in the rounding of the gradient
    left -= steps;
    pair_steps_ += steps;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      double& alpha = dual.alpha[active_.slot(i)];
      const double by = active_.alpha(i) - alpha;
      if (by == 0) continue;
      alpha = active_.alpha(i);
      const auto k = kernel_row(active_.slot(i));
      add_multiple(-by, k.data(), k.size(), dual.gradient.data());
    }
    for (std::size_t i = 0; i < active_.size(); ++i)
      active_.set_gradient(i, dual.gradient[active_.slot(i)]);
  }
}

bool DualLearner::finish() {
  for (Dual& dual : machines_) {
    optimise(dual);
    set_bias(dual);
  }
  return true;
}

void DualLearner::set_bias(Dual& dual) {
  const Pair pair = worst_pair(dual, Order::first);
  const std::size_t slots = dual.alpha.size();
  if (pair.up < slots) dual.bias = (dual.gradient[pair.up] + dual.gradient[pair.down]) / 2;
}

/// Others take what a row has of alpha, those first that gain most by it. The sum stays 0, so that
/// there is always room for it.
void DualLearner::hand_over(Dual& dual, std::size_t slot) {
  const double side = dual.alpha[slot] > 0 ? 1 : -1;
  while (dual.alpha[slot] != 0) {
    std::size_t best = dual.alpha.size();
    for (std::size_t i = 0; i < dual.alpha.size(); ++i) {
      if (i == slot || !((side > 0 ? room_up(dual, i) : room_down(dual, i)) > 0)) continue;
      if (best == dual.alpha.size() || side * dual.gradient[i] > side * dual.gradient[best])
        best = i;
    }
    if (best == dual.alpha.size()) break;  // rounding: nobody has room for the last bits
    const double room = side > 0 ? room_up(dual, best) : room_down(dual, best);
    const double rest = std::abs(dual.alpha[slot]), by = std::min(rest, room);
    if (side > 0)
      move(dual, best, slot, by);
    else
      move(dual, slot, best, by);
    if (by == rest) dual.alpha[slot] = 0;
    if (by == room) dual.alpha[best] = side > 0 ? most(dual, best) : least(dual, best);
  }
}

void DualLearner::remove(std::size_t slot) {
  for (Dual& dual : machines_) {
    if (dual.alpha[slot] != 0) hand_over(dual, slot);
    dual.alpha[slot] = dual.gradient[slot] = dual.y[slot] = 0;
  }
  if (!kept_[slot].empty()) --kept_count_;
  kept_[slot] = {};
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

/// Rows without a part in any machine, and beyond the margin of all of them, as far as can be seen.
void DualLearner::let_go() {
  std::vector<std::pair<double, double>> ends;
  for (const Dual& dual : machines_) {
    const Pair pair = worst_pair(dual, Order::first);
    if (pair.up == dual.alpha.size()) return;
    ends.emplace_back(dual.gradient[pair.up], dual.gradient[pair.down]);
  }
  for (std::size_t i = 0; i < rows_.slots(); ++i) {
    if (!rows_.used(i)) continue;
    bool beyond = true;
    for (std::size_t m = 0; m < machines_.size() && beyond; ++m) {
      const Dual& dual = machines_[m];
      const auto [highest, lowest] = ends[m];
      beyond = dual.alpha[i] == 0 &&
               (dual.y[i] > 0 ? dual.gradient[i] <= lowest : dual.gradient[i] >= highest);
    }
    if (beyond) remove(i);
  }
}

}  // namespace maxmargin
