#pragma once

#include <span>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// y[c] += sum over r of coefficients[r] * K(left row which[r], column begin + c) for c < count, in
/// double throughout, in the order of the rows.
void add_exact_product(const Form& form, const Rows& left, std::span<const Index> which,
                       std::span<const double> coefficients, const Rows& columns, std::size_t begin,
                       std::size_t count, double* y);

}  // namespace maxmargin
