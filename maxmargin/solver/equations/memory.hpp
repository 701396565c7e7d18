#pragma once

#include <optional>
#include <string>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// A low-rank K is worth its own way of solving up to so many columns. Solvers accept or refuse by
/// it what the choice of a solver gives them: it is the same for all.
inline std::size_t low_rank_columns(const Quadratic& K) {
  return K.size() / CostModel{}.solvers.least_points_a_column;
}

/// What a solver says that keeps K and its factors in memory and has too little of it; nothing
/// where the memory is enough.
std::optional<std::string> lacking_memory(const Quadratic& K, std::size_t memory_bytes);

}  // namespace maxmargin
