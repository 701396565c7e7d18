#pragma once

#include <cstdint>
#include <span>

#include "maxmargin/kernel/engine/panel/tiles.hpp"

namespace maxmargin {

/// Whether this processor multiplies and adds four bytes, or two numbers of 16 bits, at a time
/// (AVX-512 VNNI).
bool has_vnni();

/// sums[r * 64 + c] = sum over the listed features of row r of x z', z' = z - 128 the packed value
/// of column c. A lane of the panel, and a value of a list, holds four neighbouring features. Whole
/// numbers from 0 to 255; exact. Only where has_vnni().
void quad_sums(const std::int8_t* panel, std::span<const ListedRow<std::int8_t>> rows,
               std::int32_t* sums);

/// sums[r * 64 + c] = sum over all features of x z. A lane of the panel, and an entry of a row,
/// holds two neighbouring features. Exact while the sums fit. Only where has_vnni().
void dense_pair_sums(const std::int16_t* panel, std::span<const std::int16_t* const> rows,
                     std::size_t slots, std::int32_t* sums);

}  // namespace maxmargin
