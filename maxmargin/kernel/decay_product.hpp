#pragma once

#include <cstddef>

#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// Dense rows: left[r * features + j], and what each adds to its squared distances.
struct DenseRows {
  const float* left;
  const float* base;
  std::size_t count;
  std::size_t features;
};

/// y[c] += sum over r of coefficients[r] * exp(-rate (base_r + |left_r - z_c|^2)) for the columns z
/// of a panel of floats: distances by differences, the exponential and the sum in double without
/// leaving the registers. Rows are added in their order.
void add_decay_product(const Decay& decay, const float* panel, const DenseRows& rows,
                       const double* coefficients, double* y);

}  // namespace maxmargin
