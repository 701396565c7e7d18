#pragma once

#include <cstddef>
#include <cstdint>

#include "maxmargin/kernel/engine/panel/prepare.hpp"

namespace maxmargin {

// Values that lie side by side, as those of rows without gaps do, looked through by vectors.

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

/// Calls visit(first feature, its value, number of features) if a row has no gaps between its
/// stored values, which are float or double; false if it has.
template <class Visit>
bool visit_without_gaps(const Rows& rows, std::size_t row, Visit&& visit) {
  std::uint64_t at = static_cast<std::uint64_t>(row) * rows.columns;
  std::size_t first = 0, count = rows.columns;
  if (rows.sparse()) {
    at = rows.start[row];
    count = rows.start[row + 1] - at;
    first = count == 0 ? 0 : rows.index[at];
    if (count > 0 && rows.index[at + count - 1] - first != count - 1) return false;
  }
  if (rows.floats != nullptr)
    visit(first, rows.floats + at, count);
  else
    visit(first, rows.doubles + at, count);
  return true;
}

}  // namespace maxmargin
