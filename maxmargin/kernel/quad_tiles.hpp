#pragma once

#include <cstdint>
#include <span>

#include "maxmargin/kernel/tiles.hpp"

namespace maxmargin {

/// Whether this processor multiplies and adds four bytes at a time (AVX-512 VNNI).
bool has_quads();

/// sums[r * 64 + c] = sum over the listed features of row r of x z', z' = z - 128 the packed value
/// of column c. A lane of the panel, and a value of a list, holds four neighbouring features. Whole
/// numbers from 0 to 255; exact. Only where has_quads().
void quad_sums(const std::int8_t* panel, std::span<const ListedRow<std::int8_t>> rows,
               std::int32_t* sums);

}  // namespace maxmargin
