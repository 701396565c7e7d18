#pragma once

#include <bit>
#include <limits>

#include "maxmargin/structured/oracle.hpp"

namespace maxmargin {

/// A hash table of joint features, repeated ones summed. It fits into L1 where a dense vector of
/// all dimensions would not.
class FeatureSums {
 public:
  void assign(const JointFeatures& features) {
    const std::size_t slots = std::bit_ceil(2 * features.size() + 2);
    shift_ = 32 - static_cast<unsigned>(std::countr_zero(slots));
    mask_ = slots - 1;
    feature_.assign(slots, none);
    sum_.resize(slots);
    for (std::size_t k = 0; k < features.size(); ++k) {
      const std::size_t at = slot(features.index[k]);
      if (feature_[at] == none) {
        feature_[at] = features.index[k];
        sum_[at] = 0;
      }
      sum_[at] += features.value[k];
    }
  }
  double dot(const JointFeatures& other) const {
    double sum = 0;
    for (std::size_t k = 0; k < other.size(); ++k) {
      const std::size_t at = slot(other.index[k]);
      if (feature_[at] != none) sum += sum_[at] * other.value[k];
    }
    return sum;
  }

 private:
  static constexpr Index none = std::numeric_limits<Index>::max();

  /// Multiplicative hashing with linear probing.
  std::size_t slot(Index feature) const {
    std::size_t at = (feature * 2654435769U) >> shift_;
    while (feature_[at] != none && feature_[at] != feature) at = (at + 1) & mask_;
    return at;
  }

  unsigned shift_ = 0;
  std::size_t mask_ = 0;
  std::vector<Index> feature_;
  std::vector<double> sum_;
};

}  // namespace maxmargin
