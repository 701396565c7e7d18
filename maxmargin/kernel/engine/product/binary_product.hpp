#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "maxmargin/kernel/engine/panel/tiles.hpp"
#include "maxmargin/linalg/enclosed.hpp"

namespace maxmargin {

/// Binary rows as lists of features, one behind the other, and what they count: they are read again
/// for every panel.
struct BinaryRows {
  std::vector<std::uint16_t> features;
  std::vector<std::uint32_t> begin{0};  ///< of each list, and the end of the last
  std::vector<double> weight;
};

/// Sums of exp(-rate s) over binary rows, s being the number of features in which two of them
/// differ, which is at most 255. That is exp(-rate |x|) exp(-rate |z|) exp(2 rate k) with k common
/// features: of one row, one column, and a table of doubles that AVX-512 looks up in registers.
class BinaryProduct {
 public:
  /// Whether all factors are within the range of a double, and features of 16 bits.
  static bool is_possible(double rate, std::size_t features);
  /// Whether it is faster than distances and a table of floats: with AVX-512.
  static bool pays();
  explicit BinaryProduct(double rate);

  /// Rows of which row r has base[r] features, some of them maybe in no column, and counts
  /// coefficients[r].
  BinaryRows rows(std::span<const ListedRow<std::uint8_t>> lists,
                  std::span<const std::uint8_t> base, std::span<const double> coefficients) const;

  /// What a value may be wrong by where rows have at most so many features: each of the three
  /// exponentials has an argument and a result that are rounded, and there are four products.
  double error(double most_features) const {
    return unit_roundoff * (4 * rate_ * most_features + 16);
  }

  /// y[c] += the sum over the rows for each column c of a panel, which has column_base[c] features.
  void add(const std::uint8_t* panel, const std::uint8_t* column_base, const BinaryRows& rows,
           double* y) const;
  /// The same without vectors: what it does where there is no AVX-512.
  void add_plainly(const std::uint8_t* panel, const std::uint8_t* column_base,
                   const BinaryRows& rows, double* y) const;

 private:
  void add_vectors(const std::uint8_t* panel, const std::uint8_t* column_base,
                   const BinaryRows& rows, double* y) const;

  double rate_;
  std::array<double, 256> falling_;  ///< exp(-rate s)
  /// exp(2 rate k) as a product of two entries, one for each digit of k to the base of 16.
  alignas(64) std::array<double, 16> low_;
  alignas(64) std::array<double, 16> high_;
};

}  // namespace maxmargin
