#pragma once

#include <cstdint>
#include <vector>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/engine/panel/prepare.hpp"

namespace maxmargin {

/// For each feature its number among those that occur in some row, or `unused`.
struct UsedFeatures {
  static constexpr std::uint32_t unused = 0xffffffffu;
  std::vector<std::uint32_t> number;
  std::size_t count = 0;
  /// Of each feature, subtracted from all values; empty: nothing. A distance does not change, but
  /// its rounding does.
  std::vector<double> center;
};
UsedFeatures used_features(const Rows& rows, const Threads& threads);

/// Centered at the features' means, or in the middle between their extremes: whichever leaves the
/// smaller largest sum of squares of a row. Features that have one value in all rows are left out.
struct CenteredFeatures {
  UsedFeatures used;
  double norm = 0;  ///< the largest sum of squares
  std::vector<double> means;
  double norm_about_means = 0, mean_norm = 0;  ///< the largest and the mean of those about means
};
CenteredFeatures centered_features(const Summation& summation, const Rows& rows,
                                   const Threads& threads);

}  // namespace maxmargin
