#pragma once

#include <optional>
#include <string>

#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// A low-rank K is worth its own way of solving up to so many columns: beyond, the products that
/// make its Gram matrix cost more than the factors of the whole.
inline std::size_t low_rank_columns(const Quadratic& K) { return K.size() / 3; }

/// What a solver says that keeps K and its factors in memory and has too little of it; nothing
/// where the memory is enough.
std::optional<std::string> lacking_memory(const Quadratic& K, std::size_t memory_bytes);

}  // namespace maxmargin
