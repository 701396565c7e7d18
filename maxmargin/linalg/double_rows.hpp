#pragma once

#include <cstddef>

namespace maxmargin {

/// Rows of `columns` floats that follow each other become rows of doubles, `stride` apart.
void widen_rows(const float* from, std::size_t columns, std::size_t count, std::size_t stride,
                double* to);

/// Row i times factor[i], one behind the other; those whose factor is 0 are left out. Returns how
/// many were written.
std::size_t scale_rows(const double* from, std::size_t columns, std::size_t count,
                       const double* factor, double* to);

/// The largest sum of squares of a row.
double largest_square(const double* rows, std::size_t columns, std::size_t count);

}  // namespace maxmargin
