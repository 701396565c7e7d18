#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/online/expansion/expansion.hpp"

namespace maxmargin {

/// Rows of the kernel matrix of an expansion whose rows come and go, cached as far as they fit.
///
/// A row that comes changes one value of every cached kernel row. It is not written into all of
/// them at once: the row's own kernel values are noted, and a cached row is brought up to date when
/// it is asked for, all of them when many are noted (neighbouring rows then share cache lines).
class KernelRows {
 public:
  /// Of at most so many bytes, for an expansion of so many slots.
  explicit KernelRows(std::size_t bytes, std::size_t slots = 0) : bytes_(bytes), cached_(slots) {}

  /// So many of the last answers stay valid until a row comes or goes.
  static constexpr std::size_t valid_answers = 16;

  void add(std::size_t slot, std::span<const double> k);
  void remove(std::size_t slot);
  /// k(x_slot, .) by slot.
  std::span<const double> of(std::size_t slot, Expansion& rows);

 private:
  struct Cached {
    std::vector<double> k;         ///< empty: not cached
    std::size_t up_to_change = 0;  ///< in changes_
  };
  struct Change {
    std::size_t slot = 0;
    std::vector<double> k;  ///< of the row that came; empty: the slot is free
  };

  void note(std::size_t slot, std::span<const double> k);
  void update(std::size_t slot, std::size_t slots);
  void forget_changes();

  std::size_t bytes_;
  std::vector<Cached> cached_;  ///< by slot
  std::size_t count_ = 0;       ///< of those that are
  std::vector<Change> changes_;
  std::size_t noted_ = 0;                   ///< of changes_; the others are memory to use again
  std::vector<std::vector<double>> spare_;  ///< memory too
  std::vector<double> scratch_[valid_answers];
  std::size_t next_scratch_ = 0;
};

}  // namespace maxmargin
