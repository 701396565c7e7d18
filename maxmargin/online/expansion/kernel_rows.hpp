#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

/// A kernel cache for an expansion to which rows are added and from which they are removed.
///
/// Adding a row changes one value in every cached kernel row. These updates are lazy: the kernel
/// values of the new row are put into a list of changes, and a cached row applies those it has not
/// yet seen when it is asked for. When the list is full, all rows apply it.
class KernelRows {
 public:
  /// Caches up to `bytes`, for an expansion of so many slots.
  explicit KernelRows(std::size_t bytes, std::size_t slots = 0) : bytes_(bytes), cached_(slots) {}

  /// The last so many answers of of() stay valid until a row is added or removed.
  static constexpr std::size_t valid_answers = 16;

  void add(std::size_t slot, std::span<const double> k);
  void remove(std::size_t slot);
  /// k(x_slot, .) by slot.
  std::span<const double> of(std::size_t slot, Expansion& rows);

 private:
  struct Cached {
    std::vector<double> k;    ///< empty: not cached
    std::size_t applied = 0;  ///< how many of changes_ it has seen
  };
  struct Change {
    std::size_t slot = 0;
    std::vector<double> k;  ///< of the row that was added; empty: that of the slot was removed
  };

  void record(std::size_t slot, std::span<const double> k);
  void apply_changes(std::size_t slot, std::size_t slots);
  void apply_all_changes();

  std::size_t bytes_;
  std::vector<Cached> cached_;  ///< by slot
  std::size_t count_ = 0;       ///< of cached rows
  std::vector<Change> changes_;
  std::size_t recorded_ = 0;                ///< of changes_; the others are spare memory
  std::vector<std::vector<double>> spare_;  ///< memory of rows that were removed
  std::vector<double> scratch_[valid_answers];
  std::size_t next_scratch_ = 0;
};

}  // namespace maxmargin
