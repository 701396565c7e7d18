#pragma once

#include <cstddef>

#include "maxmargin/base/aligned.hpp"

namespace maxmargin {

/// Kernel values over the variables of a set, in their order: rows of `stride` floats, which is a
/// multiple of 32; values behind the last variable are finite.
struct SetKernel {
  std::size_t stride = 0;
  AlignedVector<float> values;

  void resize(std::size_t size);
  float* row(std::size_t k) { return values.data() + k * stride; }
  const float* row(std::size_t k) const { return values.data() + k * stride; }
};

}  // namespace maxmargin
