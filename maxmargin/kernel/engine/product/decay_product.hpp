#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace maxmargin {

/// Some rows of a product.
struct DecayRows {
  std::span<const float* const> row;
  std::size_t features;
  std::span<const double> coefficient;
  bool by_products;
  std::vector<float> own;  ///< minus the base; by products, minus half of it and of the squares

  /// `base`: what each row adds to its squared distances.
  DecayRows(std::span<const float* const> rows, std::span<const float> base, std::size_t features,
            std::span<const double> coefficients, bool by_products);
};

/// y[c] += sum over r of coefficient_r * 2^-(base_r + |row_r - z_c|^2), by products the root of
/// that power, for the columns z of a panel of floats: distances by differences or by inner
/// products, powers, and the sum in double without leaving the registers. Rows are added in their
/// order.
void add_decay_product(const float* panel, const DecayRows& rows, double* y);

/// The same, and besides sums[r * lanes_of_sums + k] += the sum of x[c] * that power for some of
/// the columns: all k together make the products of the rows with x.
inline constexpr std::size_t lanes_of_sums = 8;
void add_decay_products(const float* panel, const DecayRows& rows, const double* x, double* y,
                        double* sums);

}  // namespace maxmargin
