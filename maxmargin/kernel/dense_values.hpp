#pragma once

#include <cstddef>
#include <cstdint>

#include "maxmargin/kernel/prepare.hpp"

namespace maxmargin {

// Values that lie side by side, as those of dense rows do, looked through by vectors.

struct DenseExtent {
  double norm = 0;  ///< the sum of squares
  double smallest;  ///< |value| that is not zero; infinite without one
  double largest = 0;
  double lowest = 0;
  std::size_t nonzeros = 0;
};
DenseExtent dense_extent(const double* values, std::size_t count);
DenseExtent dense_extent(const float* values, std::size_t count);

struct WholeNumbers {
  bool fit;          ///< every value is a whole number of units
  double norm;       ///< the sum of squares of the values
  double unit_norm;  ///< the same of the whole numbers
};
/// Writes the whole numbers to `units`, unless that is null.
WholeNumbers whole_numbers(const double* values, std::size_t count, const Unit& unit,
                           std::int16_t* units);
WholeNumbers whole_numbers(const float* values, std::size_t count, const Unit& unit,
                           std::int16_t* units);

/// Calls visit(values) with the first value of a dense row, a pointer to float or double.
template <class Visit>
auto with_values(const Rows& rows, std::size_t row, Visit&& visit) {
  const std::size_t at = row * rows.columns;
  return rows.floats != nullptr ? visit(rows.floats + at) : visit(rows.doubles + at);
}

}  // namespace maxmargin
