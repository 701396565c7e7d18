#pragma once

#include <cstddef>

#include "maxmargin/train/train.hpp"

namespace maxmargin {

// How the memory of a training is split: a quarter for kernel values that several machines need, a
// quarter for kernel rows that folds need again, the rest by the machines that are trained at a
// time.

/// All of it: as asked for, or half of what the machine has.
std::size_t memory_for(const TrainOptions& options);

/// For kernel values that several machines need.
std::size_t shared_part(const TrainOptions& options);

/// For kernel rows that are kept from one fold to the next.
std::size_t kept_part(const TrainOptions& options);

/// What is left of the `memory` of one machine beside its share of kept rows, where each of the
/// machines trained at a time has `crew` of `all` threads.
std::size_t memory_beside_kept(std::size_t memory, const TrainOptions& options, const Threads& crew,
                               const Threads& all);

}  // namespace maxmargin
