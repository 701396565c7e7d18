#pragma once

#include <cstddef>
#include <span>

namespace maxmargin {

/// Dense rows, and what each adds to its squared distances.
struct DenseRows {
  std::span<const float* const> row;
  const float* base;
  std::size_t features;
};

/// y[c] += sum over r of coefficients[r] * 2^-(base_r + |row_r - z_c|^2) for the columns z of a
/// panel of floats: distances by differences, powers, and the sum in double without leaving
/// the registers. Rows are added in their order.
void add_decay_product(const float* panel, const DenseRows& rows, const double* coefficients,
                       double* y);

/// The same, and besides sums[r * lanes_of_sums + c % lanes_of_sums] += x[c] * that power for all
/// columns c: the products of the rows with x, in parts.
inline constexpr std::size_t lanes_of_sums = 8;
void add_decay_products(const float* panel, const DenseRows& rows, const double* coefficients,
                        const double* x, double* y, double* sums);

}  // namespace maxmargin
