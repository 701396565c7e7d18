#include "maxmargin/online/expansion/active_pairs.hpp"

#include <algorithm>

#include "maxmargin/online/expansion/panel_loops.hpp"

namespace maxmargin {

void ActivePairs::clear() {
  slot_.clear();
  for (std::vector<double>* each : {&alpha_, &gradient_, &least_, &most_, &self_}) each->clear();
  for (std::vector<double>& row : kernel_) row.clear();  // keeps the memory
  is_active_.clear();
}

void ActivePairs::add(std::size_t slot, double alpha, double gradient, double least, double most,
                      double self) {
  if (slot >= is_active_.size()) is_active_.resize(slot + 1, false);
  is_active_[slot] = true;
  slot_.push_back(slot);
  alpha_.push_back(alpha);
  gradient_.push_back(gradient);
  least_.push_back(least);
  most_.push_back(most);
  self_.push_back(self);
}

std::span<const double> ActivePairs::sub_row(std::size_t i, const KernelRow& kernel_row) {
  std::vector<double>& row = kernel_[i];
  if (row.size() < size()) {
    const std::span<const double> whole = kernel_row(slot_[i]);
    std::size_t j = row.size();
    row.resize(size());
    for (; j < size(); ++j) row[j] = whole[slot_[j]];
  }
  return row;
}

std::size_t ActivePairs::solve(double tolerance, std::size_t most_steps,
                               const KernelRow& kernel_row) {
  const std::size_t count = size();
  if (kernel_.size() < count) kernel_.resize(count);
  const PairArrays rows{gradient_.data(), alpha_.data(), least_.data(),
                        most_.data(),     self_.data(),  count};
  for (std::size_t steps = 0; steps < most_steps; ++steps) {
    const ViolatingPair worst = most_violating_pair(rows);
    if (!(worst.highest - worst.lowest > tolerance)) return steps;
    const std::size_t up = worst.up;
    const auto k = sub_row(up, kernel_row);
    const std::size_t down = best_partner(rows, up, k.data());
    if (down == count) return steps;  // no pair gains anything in doubles
    const double up_room = most_[up] - alpha_[up], down_room = alpha_[down] - least_[down];
    const double by = std::min(
        {(worst.highest - gradient_[down]) / pair_curvature(self_[up], self_[down], k[down]),
         up_room, down_room});
    if (!(by > 0)) return steps;
    // What reaches a bound lies on it exactly.
    alpha_[up] = by == up_room ? most_[up] : alpha_[up] + by;
    alpha_[down] = by == down_room ? least_[down] : alpha_[down] - by;
    add_multiple(-by, k.data(), count, gradient_.data());
    add_multiple(by, sub_row(down, kernel_row).data(), count, gradient_.data());
  }
  return most_steps;
}

}  // namespace maxmargin
