#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// A partition of rows for cross-validation.
struct Folds {
  static constexpr int none = -1;
  int count = 0;
  std::vector<int> of_row;  ///< from 0; `none` for rows of weight 0

  bool holds(int fold, std::size_t row) const { return of_row[row] == fold; }
  /// Of each row whether the fold holds it.
  std::vector<bool> rows_of(int fold) const {
    std::vector<bool> rows(of_row.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = holds(fold, i);
    return rows;
  }
};

/// Random folds, the same for the same seed on every machine. Their sizes differ by one at most,
/// and so do those of each class; numbers to predict are spread as evenly (any `count` rows next to
/// one another in order of y are in different folds). `y` as in Dataset, not looked at for novelty.
/// Throws Error for fewer than 2 folds, or more than there are rows.
Folds make_folds(std::size_t rows, std::span<const double> y, std::span<const double> weight,
                 Outcome outcome, int count, std::uint64_t seed);

}  // namespace maxmargin
