#pragma once

#include <span>

#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

// Sums over the values of a sparse row, as eight partial sums of every eighth term: the same bits
// on any machine, whatever the width of its vectors.

/// w.x; features beyond the end of w have the weight 0.
double weighted_sum(std::span<const double> w, const StreamRow& x);
double sum_of_squares(std::span<const double> values);
/// Both in one pass.
struct RowSums {
  double weighted, squares;
};
RowSums row_sums(std::span<const double> w, const StreamRow& x);

}  // namespace maxmargin
