#pragma once

#include <span>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// Kernel values of distances from the differences of features, in double: nothing cancels, however
/// far from zero or from each other the rows are. out[r * stride + c] = K(left row which[r], column
/// begin + c) for c < count.
void difference_block(const Form& form, const Rows& left, std::span<const Index> which,
                      const Rows& columns, std::size_t begin, std::size_t count, double* out,
                      std::size_t stride);

}  // namespace maxmargin
