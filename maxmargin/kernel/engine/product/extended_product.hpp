#pragma once

#include <span>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/form.hpp"

// Kernel values and sums by their plain definition in long double: slow, and for certificates that
// doubles are too coarse for.
namespace maxmargin {

/// y[k] = sum over s of coefficients[s] K(points[k], support[s]), the rows being of `rows`.
void extended_product(const Form& form, const Rows& rows, std::span<const Index> points,
                      std::span<const Index> support, std::span<const double> coefficients,
                      std::span<long double> y, const Threads& threads);

/// What a value of it may be wrong by, in units of sqrt(K(x,x) K(z,z)).
double extended_error(const Form& form, std::size_t features);

}  // namespace maxmargin
