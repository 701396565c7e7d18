#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Finds the machine of two classes by their labels, in logarithmic time: there may be hundreds of
/// classes, and each pair of them asks.
class PairTable {
 public:
  explicit PairTable(const Model& model) : model_(model) {
    for (std::size_t k = 0; k < model.classes.size(); ++k)
      numbers_.emplace_back(std::stoi(model.classes[k]), static_cast<int>(k));
    std::ranges::sort(numbers_);
    for (std::size_t k = 0; k < model.machines.size(); ++k)
      machines_.push_back({{model.machines[k].negative, model.machines[k].positive}, k});
    std::ranges::sort(machines_);
  }

  const Machine& machine_of(int one, int other) const {
    const std::pair<int, int> ends = std::minmax({number_of(one), number_of(other)});
    return model_.machines[std::ranges::lower_bound(machines_, ends, {}, &Entry::first)->second];
  }

 private:
  using Entry = std::pair<std::pair<int, int>, std::size_t>;

  int number_of(int label) const {
    return std::ranges::lower_bound(numbers_, label, {}, &std::pair<int, int>::first)->second;
  }

  const Model& model_;
  std::vector<std::pair<int, int>> numbers_;  // of labels, by label
  std::vector<Entry> machines_;               // the smaller class, the larger one, the machine
};

}  // namespace maxmargin
