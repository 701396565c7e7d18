#include "maxmargin/model/weights.hpp"

#include <algorithm>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/kernel/given.hpp"

namespace maxmargin {
namespace {

std::size_t used_features(const Rows& rows) {
  if (!rows.sparse()) return rows.count == 0 ? 0 : rows.columns;
  std::size_t used = 0;
  for (std::size_t i = 0; i < rows.count; ++i)
    if (rows.start[i] < rows.start[i + 1])
      used = std::max(used, std::size_t{rows.index[rows.start[i + 1] - 1]} + 1);
  return used;
}

}  // namespace

std::unique_ptr<Weights> Weights::of(const Model& model, const WeightChoice& choice) {
  const bool precomputed = is_given(model.kernel);
  if (!precomputed && !std::holds_alternative<Linear>(model.kernel)) return nullptr;
  std::size_t features = used_features(model.support);
  if (precomputed) {
    features = 0;
    for (const std::uint64_t row : model.support_row) features = std::max(features, row + 1);
  }
  double model_bytes = static_cast<double>(model.support.bytes());
  for (const Machine& machine : model.machines)
    model_bytes += static_cast<double>(machine.support.size() * (sizeof(double) + sizeof(Index)));
  const double bytes =
      static_cast<double>(features) * static_cast<double>(model.machines.size() * sizeof(double));
  if (bytes > choice.small_bytes && bytes > choice.most_growth * model_bytes) return nullptr;

  auto weights = std::make_unique<Weights>();
  const std::size_t machines = model.machines.size();
  weights->machines_ = machines;
  weights->w_.resize(features * machines);
  const Rows support = model.support;
  for (std::size_t m = 0; m < machines; ++m) {
    const Machine& machine = model.machines[m];
    for (std::size_t k = 0; k < machine.support.size(); ++k) {
      const double coefficient = machine.coefficient[k];
      if (precomputed)
        weights->w_[model.support_row[machine.support[k]] * machines + m] += coefficient;
      else
        support.for_each(machine.support[k], [&](Index feature, double value) {
          weights->w_[feature * machines + m] += coefficient * value;
        });
    }
  }
  return weights;
}

void Weights::add(const Rows& rows, std::size_t row, double* sums) const {
  const std::size_t features = machines_ == 0 ? 0 : w_.size() / machines_;
  if (machines_ == 1 && !rows.sparse()) {
    // Four sums, since each addition has to wait for the one before.
    double part[4] = {0, 0, 0, 0};
    const std::uint64_t base = std::uint64_t{row} * rows.columns;
    const std::size_t count = std::min(rows.columns, features);
    std::size_t j = 0;
    for (; j + 4 <= count; j += 4)
      for (std::size_t i = 0; i < 4; ++i) part[i] += rows.value(base + j + i) * w_[j + i];
    for (; j < count; ++j) part[0] += rows.value(base + j) * w_[j];
    sums[0] += (part[0] + part[1]) + (part[2] + part[3]);
    return;
  }
  rows.for_each(row, [&](Index feature, double value) {
    if (feature >= features || value == 0) return;
    const double* w = w_.data() + feature * machines_;
    for (std::size_t m = 0; m < machines_; ++m) sums[m] += value * w[m];
  });
}

}  // namespace maxmargin
