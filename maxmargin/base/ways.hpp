#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace maxmargin {

/// Ways that a run goes or leaves aside by the size of its problem and what operations cost.
enum class Way {
  truncated_pairs,   ///< SMO: pairs among all variables, by rows without their negligible values
  cached_pairs,      ///< SMO: pairs among all variables, by cached rows
  working_sets,      ///< SMO
  newton_of_set,     ///< SMO: all free variables of a working set at once
  newton,            ///< SMO: all free variables at once
  shrinking,         ///< SMO: some variables are left out
  picked_values,     ///< SMO: the values of a set come from cached rows
  part_first,        ///< SMO: starts from the solution of a part of the points
  primal_dual_free,  ///< primal-dual: all free variables at once
  shared_values,     ///< kernel values that another machine has computed
  half_products,     ///< each value of a symmetric matrix once
  small_machine,     ///< a machine of few rows, without the general path
  fewer_rows,        ///< starts from the machine of more rows, as folds do
  cached_rows,       ///< kernel rows that folds, or the points of a path, share
  few_columns,       ///< interior point: systems of the columns of Z where K = Z Z'
  columns_for_K,     ///< interior point: low-rank columns in the place of K, and corrections
  simplex_sets,      ///< Crammer-Singer: some of the chosen examples at a time
  chosen_anew,       ///< Crammer-Singer: the chosen examples make room for others
  simplex_newton,    ///< Crammer-Singer: all free classes of a set at once
  linear_simplices,  ///< Crammer-Singer: on the rows of a linear kernel
  count
};

/// How often a run went each of them; its threads share one. What it counts decides nothing.
class WaysGone {
 public:
  void note(Way way) { at(way).fetch_add(1, std::memory_order_relaxed); }
  std::size_t times(Way way) const {
    return times_[static_cast<std::size_t>(way)].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t>& at(Way way) { return times_[static_cast<std::size_t>(way)]; }
  std::array<std::atomic<std::size_t>, static_cast<std::size_t>(Way::count)> times_{};
};

}  // namespace maxmargin
