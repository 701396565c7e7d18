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

// Between two tasks a product can be interrupted, so none of them is expected to take longer. Rows
// are prepared for each, which costs about as much as a hundred of their values.
inline constexpr double task_nanoseconds = 1e8;
inline constexpr double exact_value = 4;  ///< in double, in values of block()

/// The same of a product with so many rows, whose values take so many nanoseconds.
inline std::size_t product_columns(std::size_t columns, std::size_t rows, double value_cost,
                                   const Threads& threads) {
  constexpr double least = 128;
  const double few = task_nanoseconds / (value_cost * static_cast<double>(rows));
  const std::size_t most = task_columns(columns, threads);
  return few < static_cast<double>(most) ? static_cast<std::size_t>(std::max(least, few)) / 64 * 64
                                         : most;
}

}  // namespace maxmargin
