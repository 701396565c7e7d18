#pragma once

#include <cstddef>
#include <cstdint>

namespace maxmargin {

// The inner loops of machines with one weight vector for each class, or label, which stand beside
// each other: w[feature * classes + class]. Vectorised over the classes, so that the sums have the
// same bits on any machine.

/// The values of a row.
struct ClassRow {
  const std::uint32_t* feature;  ///< null: they are 0, 1, 2, ...
  const float* floats;           ///< the values, or
  const double* doubles;         ///< the values; both null: they are all 1
  std::size_t count;
};

/// sums[c] = sum over k of value[k] w[feature[k] classes + c]
void class_sums(const double* w, const ClassRow& row, std::size_t classes, double* sums);

/// w[feature[k] classes + c] += value[k] change[c]; groups of classes without a change are left
/// out.
void add_to_classes(double* w, const ClassRow& row, std::size_t classes, const double* change);

}  // namespace maxmargin
