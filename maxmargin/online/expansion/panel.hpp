#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// The values of rows as [feature][slot]: a feature of x is multiplied with all rows in one loop,
/// and adding or erasing a row costs O(its features).
template <class Value>
class Panel {
 public:
  std::size_t capacity() const { return capacity_; }  ///< slots per feature

  /// Erases everything, and gives each feature room for so many slots.
  void clear(std::size_t capacity) {
    capacity_ = capacity;
    rows_ = 0;
    values_ = Buffer<Value>();
    row_of_ = Buffer<Index>();
  }
  /// False where the panel would exceed `most_bytes`.
  bool put(std::size_t slot, std::span<const Index> features, std::span<const double> values,
           std::size_t most_bytes) {
    for (std::size_t k = 0; k < features.size(); ++k) {
      const Index row = row_for(features[k], most_bytes);
      if (row == 0) return false;
      values_[(row - 1) * capacity_ + slot] = static_cast<Value>(values[k]);
    }
    return true;
  }
  void erase(std::size_t slot, std::span<const Index> features) {
    for (const Index feature : features) values_[(row_of_[feature] - 1) * capacity_ + slot] = 0;
  }
  /// Of those of the features that the panel has: their rows of values, and their factors.
  void find(std::span<const Index> features, std::span<const double> factors,
            std::vector<const Value*>& rows, std::vector<double>& times) const {
    rows.clear();
    times.clear();
    for (std::size_t k = 0; k < features.size(); ++k) {
      if (features[k] >= row_of_.size()) break;
      const Index row = row_of_[features[k]];
      if (row == 0) continue;
      rows.push_back(values_.data() + (row - 1) * capacity_);
      times.push_back(factors[k]);
    }
  }

 private:
  /// 1 + the panel's row of a feature; 0: there is no room for it.
  Index row_for(Index feature, std::size_t most_bytes) {
    if (feature >= row_of_.size()) {
      row_of_.reserve(std::size_t{feature} + 1);
      row_of_.resize(std::size_t{feature} + 1);
    }
    if (row_of_[feature] == 0) {
      const std::size_t size = (rows_ + 1) * capacity_;
      if (size * sizeof(Value) > most_bytes) return 0;
      values_.reserve(size);
      values_.resize(size);
      row_of_[feature] = static_cast<Index>(++rows_);
    }
    return row_of_[feature];
  }

  std::size_t capacity_ = 0;
  std::size_t rows_ = 0;  ///< features in the panel
  Buffer<Index> row_of_;  ///< 1 + the panel's row of a feature; 0: none
  Buffer<Value> values_;  ///< [row][slot]
};

}  // namespace maxmargin
