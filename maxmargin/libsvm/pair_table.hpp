#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Finds the machine of two classes by their labels: there may be hundreds of classes, and each
/// pair of them asks.
class PairTable {
 public:
  explicit PairTable(const Model& model) : model_(model) {
    for (std::size_t k = 0; k < model.classes.size(); ++k)
      numbers_.emplace_back(std::stoi(model.classes[k]), static_cast<int>(k));
    std::ranges::sort(numbers_);
    machines_.assign(model.classes.size() * (model.classes.size() - 1) / 2, none);
    for (std::size_t k = 0; k < model.machines.size(); ++k)
      machines_[index_of(model.machines[k].negative, model.machines[k].positive)] = k;
  }

  /// Null where there was no time for it.
  const Machine* machine_of(int one, int other) const {
    const std::size_t number = machines_[index_of(number_of(one), number_of(other))];
    return number == none ? nullptr : &model_.machines[number];
  }

 private:
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

  /// In the lower triangle of all pairs.
  static std::size_t index_of(int one, int other) {
    const auto [smaller, larger] = std::minmax(one, other);
    const auto row = static_cast<std::size_t>(larger);
    return row * (row - 1) / 2 + static_cast<std::size_t>(smaller);
  }
  int number_of(int label) const {
    return std::ranges::lower_bound(numbers_, label, {}, &std::pair<int, int>::first)->second;
  }

  const Model& model_;
  std::vector<std::pair<int, int>> numbers_;  // of labels, by label
  std::vector<std::size_t> machines_;         // the number of each pair's
};

}  // namespace maxmargin
