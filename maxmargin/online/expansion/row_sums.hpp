#pragma once

#include <span>

#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

// Sums over the values of a sparse row, as eight sums of every eighth term: the same bits on any
// machine, however many numbers its vectors have.

/// Sum of w_j x_j over the features that have a weight.
double weighted_sum(std::span<const double> w, const StreamRow& x);
double sum_of_squares(std::span<const double> values);
/// Both at once.
struct RowSums {
  double weighted, squares;
};
RowSums row_sums(std::span<const double> w, const StreamRow& x);

}  // namespace maxmargin
