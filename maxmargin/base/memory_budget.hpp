#pragma once

#include <algorithm>
#include <cstddef>

#include "maxmargin/base/buffer.hpp"

namespace maxmargin {

/// Bytes that may be used beside the data, and the one way in which they are split: a part has a
/// name, and what is not part of anything is the solver's.
struct MemoryBudget {
  std::size_t bytes = 0;

  /// Where nobody asks for less: half of what the machine has free.
  static MemoryBudget of_machine() { return {available_memory_bytes() / 2}; }

  /// Kernel values that several machines need.
  MemoryBudget shared_values() const { return {bytes / 4}; }
  /// Kernel rows that the folds of a machine need again,
  MemoryBudget rows_of_folds() const { return {bytes / 4}; }
  /// and, as a part of those, the kernel values that a fold starts with.
  MemoryBudget values_of_restart() const { return {bytes / 4}; }
  /// Kernel rows that the points of a path need again.
  MemoryBudget rows_of_path() const { return {bytes / 2}; }
  /// Z, where Z Z' is in the place of K.
  MemoryBudget low_rank() const { return {bytes / 2}; }
  /// The system that follows a solution while a variable leaves it.
  MemoryBudget leave_one_out() const { return {bytes / 2}; }
  /// Of a method that keeps a matrix and its factors, or kernel values and a system made of them:
  /// either of the two.
  MemoryBudget one_of_two() const { return {bytes / 2}; }
  /// The kernel matrix of all rows of many small machines.
  MemoryBudget small_machines() const { return {std::min(bytes / 16, std::size_t{16} << 20)}; }

  // Out of core, where it is all that the program may use.

  /// A block of the text that is read: there are a few at a time.
  MemoryBudget text_block() const { return {bytes / 128}; }
  /// All chunks of rows that a pass holds, those read ahead included.
  MemoryBudget chunks() const { return {bytes / 16}; }
  /// Rows among which basis functions are chosen, with their part of Z.
  MemoryBudget sample() const { return {bytes / 3}; }

  MemoryBudget without(std::size_t taken) const { return {bytes - std::min(bytes, taken)}; }
  /// For each of so many at a time.
  MemoryBudget divided(std::size_t users) const { return {bytes / users}; }
};

}  // namespace maxmargin
