#pragma once

#include <cstddef>

namespace maxmargin {

/// out[r * many + s] = sum over k < count of tile[r * tile_stride + k] * matrix[s * matrix_stride +
/// k], in double, for r < rows and s < many. An entry's bits depend on its own row of each side
/// only.
void tile_product(const float* tile, std::size_t tile_stride, std::size_t rows,
                  const double* matrix, std::size_t matrix_stride, std::size_t many,
                  std::size_t count, double* out);
void tile_product(const double* tile, std::size_t tile_stride, std::size_t rows,
                  const double* matrix, std::size_t matrix_stride, std::size_t many,
                  std::size_t count, double* out);

/// The largest |value|; 0 for none.
float largest(const float* values, std::size_t count);

}  // namespace maxmargin
