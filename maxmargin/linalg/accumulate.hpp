#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace maxmargin {

/// y[c] += sum over r of coefficients[r] * rows[r][c] for c < count: float rows, double sums. Each
/// y[c] is summed in the order of the rows, so that the result does not depend on how the columns
/// are cut into ranges.
void add_scaled_rows(std::span<const float* const> rows, std::span<const double> coefficients,
                     std::size_t count, double* y);

/// y[r] += sum over c of rows[r][c] * x[c] for c < count: float rows, double sums.
void add_row_products(std::span<const float* const> rows, const double* x, std::size_t count,
                      double* y);

/// Blocks of neighbouring values of a row: block k holds those of the columns from block_columns *
/// blocks[k] on.
inline constexpr std::size_t block_columns = 16;
struct BlockRow {
  std::span<const std::uint32_t> blocks;
  const float* values;
};

/// The same for rows of which only some blocks are not zero, of `columns` columns.
void add_scaled_blocks(std::span<const BlockRow> rows, std::span<const double> coefficients,
                       std::size_t columns, double* y);

/// Picks columns out of such rows: bit i of members[b] says that column block_columns * b + i is
/// wanted; the wanted ones of block b go to out[r] + first[b], one after the other.
void pick_of_blocks(std::span<const BlockRow> rows, const std::uint16_t* members,
                    const std::uint32_t* first, float* const* out);

/// Whether some of `count` values is larger than `least`.
bool any_above(const float* values, std::size_t count, float least);

}  // namespace maxmargin
