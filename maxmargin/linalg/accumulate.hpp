#pragma once

#include <cstddef>
#include <span>

namespace maxmargin {

/// y[c] += sum over r of coefficients[r] * rows[r][c] for c < count: float rows, double sums. Each
/// y[c] is summed in the order of the rows, so that the result does not depend on how the columns
/// are cut into ranges.
void add_scaled_rows(std::span<const float* const> rows, std::span<const double> coefficients,
                     std::size_t count, double* y);

}  // namespace maxmargin
