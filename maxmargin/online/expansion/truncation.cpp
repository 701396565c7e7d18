#include "maxmargin/online/expansion/truncation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/linalg/small.hpp"
#include "maxmargin/online/expansion/panel_loops.hpp"

namespace maxmargin {
namespace {

/// On how many rows a term is projected, and among how many the partner of a merger is looked for.
constexpr std::size_t most_neighbours = 16;

/// The rows z with the largest k(x,z)^2 / k(z,z), and their kernel values with x.
struct Neighbours {
  std::vector<std::size_t> slots;
  std::vector<double> k;
};
Neighbours neighbours_of(OnlineTerms& terms, std::size_t slot) {
  const auto k = terms.expansion.values(slot);
  const auto similarity = [&](std::size_t i) {
    const double length = terms.root_self[i];
    return length > 0 ? std::abs(k[i]) / length : 0;
  };
  Neighbours found;
  for (std::size_t i = 0; i < k.size(); ++i)
    if (i != slot && terms.expansion.used(i)) found.slots.push_back(i);
  const std::size_t count = std::min(most_neighbours, found.slots.size());
  const auto end = found.slots.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(found.slots.begin(), end, found.slots.end(), [&](std::size_t a, std::size_t b) {
    return similarity(a) > similarity(b) || (similarity(a) == similarity(b) && a < b);
  });
  found.slots.resize(count);
  for (const std::size_t i : found.slots) found.k.push_back(k[i]);
  return found;
}

/// Two terms a k(x, .) + b k(z, .), with kappa = k(x, z), become one at h x + (1 - h) z.
struct Merger {
  double h = 0;
  double loss = 0;  ///< squared norm of the difference, summed over the machines
};

/// The coefficient of the merged row.
double merged(double a, double b, double kappa, double h) {
  return a * std::pow(kappa, (1 - h) * (1 - h)) + b * std::pow(kappa, h * h);
}

double lost(double a, double b, double kappa, double h) {
  const double c = merged(a, b, kappa, h);
  return std::max(0.0, a * a + b * b + 2 * a * b * kappa - c * c);
}

Merger best_merger(const OnlineTerms& terms, std::size_t x, std::size_t z, double kappa) {
  const auto loss = [&](double h) {
    double sum = 0;
    for (const OnlineMachine& machine : terms.machines)
      sum += lost(machine.scale * machine.coefficient[x], machine.scale * machine.coefficient[z],
                  kappa, h);
    return sum;
  };
  constexpr double golden = 0.6180339887498949;
  double low = 0, high = 1;
  for (int step = 0; step < 24; ++step) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    (loss(left) < loss(right) ? high : low) = loss(left) < loss(right) ? right : left;
  }
  Merger best{(low + high) / 2, loss((low + high) / 2)};
  for (const double end : {0.0, 1.0})
    if (loss(end) < best.loss) best = {end, loss(end)};
  return best;
}

Expansion::Slot between(const StreamRow& x, const StreamRow& z, double h) {
  Expansion::Slot row;
  for_each_feature(x, z, [&](Index feature, double of_x, double of_z) {
    const double value = h * of_x + (1 - h) * of_z;
    if (value == 0) return;
    row.features.push_back(feature);
    row.values.push_back(value);
  });
  row.number = h > 0.5 ? x.number : z.number;
  return row;
}

}  // namespace

std::size_t OnlineTerms::add(const StreamRow& x, std::uint64_t step, double label) {
  const std::size_t slot = expansion.add(x);
  const std::size_t slots = expansion.slots();
  birth.resize(slots, 0);
  root_self.resize(slots, 0.0);
  birth[slot] = step;
  target.resize(slots, 0.0);
  target[slot] = label;
  root_self[slot] = std::sqrt(std::max(0.0, expansion.self(slot)));
  for (OnlineMachine& machine : machines) {
    machine.coefficient.resize(slots, 0.0);
    if (averages) machine.correction.resize(slots, 0.0);
  }
  return slot;
}

void OnlineTerms::drop(std::size_t slot) {
  for (OnlineMachine& machine : machines) {
    machine.dropped += machine.scale * std::abs(machine.coefficient[slot]) * root_self[slot];
    machine.coefficient[slot] = 0;
  }
  root_self[slot] = 0;
  expansion.remove(slot);
}

std::size_t OnlineTerms::smallest() {
  const std::size_t slots = expansion.slots();
  if (machines.size() == 1)
    return smallest_product(machines[0].coefficient.data(), root_self.data(), slots);
  total_.assign(slots, 0.0);
  for (const OnlineMachine& machine : machines)
    for (std::size_t i = 0; i < slots; ++i)
      total_[i] += machine.scale * std::abs(machine.coefficient[i]);
  return smallest_product(total_.data(), root_self.data(), slots);
}

void Horizon::apply(std::uint64_t step, OnlineTerms& terms) const {
  const auto steps = static_cast<std::uint64_t>(horizon);
  if (step < steps) return;
  for (std::size_t i = 0; i < terms.expansion.slots(); ++i)
    if (terms.expansion.used(i) && terms.birth[i] <= step - steps) terms.drop(i);
}

void Budget::apply(std::uint64_t, OnlineTerms& terms) const {
  while (terms.expansion.count() > static_cast<std::size_t>(budget)) {
    const std::size_t slot = terms.smallest();
    // All rows left have k(x,x) = 0.
    if (slot == terms.expansion.slots()) return;
    if (removal == Removal::project)
      project(terms, slot);
    else if (removal == Removal::merge)
      merge(terms, slot);
    else
      terms.drop(slot);
  }
}

/// alpha_r k(x_r, .) is replaced by its projection on the span of its neighbours.
void Budget::project(OnlineTerms& terms, std::size_t slot) {
  const Neighbours near = neighbours_of(terms, slot);
  const std::size_t count = near.slots.size();
  SmallMatrix K(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto k = terms.expansion.values(near.slots[i]);
    for (std::size_t j = 0; j <= i; ++j) K(i, j) = k[near.slots[j]];
  }
  const std::vector<double> z = solve_cholesky(K, near.k, 1e-10);
  // |k_r - sum z_i k_i|^2 for the z that was found, however exact the solution is.
  double residual = terms.root_self[slot] * terms.root_self[slot];
  for (std::size_t i = 0; i < count; ++i) {
    residual += z[i] * (z[i] * K(i, i) - 2 * near.k[i]);
    for (std::size_t j = 0; j < i; ++j) residual += 2 * z[i] * z[j] * K(i, j);
  }
  const double left = std::sqrt(std::max(0.0, residual));
  if (!(left <= terms.root_self[slot])) return terms.drop(slot);
  for (OnlineMachine& machine : terms.machines) {
    const double part = machine.coefficient[slot];
    for (std::size_t i = 0; i < count; ++i) machine.coefficient[near.slots[i]] += part * z[i];
    machine.dropped += machine.scale * std::abs(part) * left;
    machine.coefficient[slot] = 0;
  }
  terms.root_self[slot] = 0;
  terms.expansion.remove(slot);
}

/// Two rows x and z of an RBF kernel are replaced by one between them: k(x, h x + (1 - h) z) is
/// k(x,z)^((1-h)^2).
void Budget::merge(OnlineTerms& terms, std::size_t slot) {
  const Neighbours near = neighbours_of(terms, slot);
  Merger best{0, std::numeric_limits<double>::infinity()};
  std::size_t partner = slot;
  double kappa = 0;
  for (std::size_t i = 0; i < near.slots.size(); ++i) {
    const Merger merger = best_merger(terms, slot, near.slots[i], near.k[i]);
    if (merger.loss >= best.loss) continue;
    best = merger;
    partner = near.slots[i];
    kappa = near.k[i];
  }
  if (partner == slot) return terms.drop(slot);
  const Expansion::Slot row =
      between(terms.expansion.row(slot), terms.expansion.row(partner), best.h);
  std::vector<double> coefficients;
  for (OnlineMachine& machine : terms.machines) {
    double &a = machine.coefficient[slot], &b = machine.coefficient[partner];
    machine.dropped += machine.scale * std::sqrt(lost(a, b, kappa, best.h));
    coefficients.push_back(merged(a, b, kappa, best.h));
    a = b = 0;
  }
  const std::uint64_t birth = std::max(terms.birth[slot], terms.birth[partner]);
  const double label = terms.target[partner];  // its term has the larger norm
  for (const std::size_t gone : {slot, partner}) {
    terms.root_self[gone] = 0;
    terms.expansion.remove(gone);
  }
  const std::size_t fresh = terms.add({row.features, row.values, row.number}, birth, label);
  for (std::size_t m = 0; m < terms.machines.size(); ++m)
    terms.machines[m].coefficient[fresh] = coefficients[m];
}

void LargestError::apply(std::uint64_t, OnlineTerms& terms) const {
  while (terms.expansion.count() > 1) {
    const std::size_t slot = terms.smallest();
    if (slot == terms.expansion.slots()) return;
    for (const OnlineMachine& machine : terms.machines)
      if (machine.dropped +
              machine.scale * std::abs(machine.coefficient[slot]) * terms.root_self[slot] >
          error)
        return;
    terms.drop(slot);
  }
}

}  // namespace maxmargin
