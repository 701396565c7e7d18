#pragma once

#include <functional>
#include <span>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// Rows in an order of their own, and where in it each fold begins.
struct LibsvmFolds {
  std::vector<Index> order;
  std::vector<std::size_t> start;  ///< one more than there are folds

  std::size_t count() const { return start.size() - 1; }
  std::span<const Index> held_out(std::size_t fold) const {
    return std::span(order).subspan(start[fold], start[fold + 1] - start[fold]);
  }
  /// The others, in order.
  std::vector<Index> rest(std::size_t fold) const;
};

/// As LIBSVM shuffles: with the same `random` (C's rand()) the same folds come out.
LibsvmFolds shuffled_folds(std::vector<Index> rows, std::size_t folds,
                           const std::function<int()>& random);

/// The same class by class, so that every fold has its share of each.
LibsvmFolds stratified_folds(std::vector<std::vector<Index>> classes, std::size_t folds,
                             const std::function<int()>& random);

}  // namespace maxmargin
