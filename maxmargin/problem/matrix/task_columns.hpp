#pragma once

#include <algorithm>
#include <cstddef>

#include "maxmargin/base/threads.hpp"

namespace maxmargin {

/// The columns of a row that one task computes: some tasks a thread, so that none waits long, yet
/// many columns, for which the rows are prepared once. The values do not depend on the cut.
inline std::size_t task_columns(std::size_t columns, const Threads& threads) {
  constexpr std::size_t least = 1024, tasks_a_thread = 4;
  const auto tasks = tasks_a_thread * static_cast<std::size_t>(threads.count());
  return threads.count() == 1 ? columns : std::max(least, (columns / tasks + 63) / 64 * 64);
}

// Values of a product that a task computes: between two tasks it can be interrupted. Those in
// double may take a hundred times as long.
inline constexpr std::size_t fast_values_of_task = std::size_t{1} << 22;
inline constexpr std::size_t exact_values_of_task = std::size_t{1} << 18;

/// The same of a product with so many rows, and about so many values.
inline std::size_t product_columns(std::size_t columns, std::size_t rows, std::size_t values,
                                   const Threads& threads) {
  constexpr std::size_t least = 128;
  const std::size_t few = values / std::max<std::size_t>(1, rows) / 64 * 64;
  return std::min(task_columns(columns, threads), std::max(least, few));
}

}  // namespace maxmargin
