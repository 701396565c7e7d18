#pragma once

#include <cstddef>

#include "maxmargin/train/train.hpp"

namespace maxmargin {

// How the memory of a training is split: a quarter for kernel values that several machines need, a
// quarter for kernel rows that folds need again, the rest by the machines that are trained at a
// time.

/// All of it: the context's, or as asked for, or half of what the machine has.
std::size_t memory_for(const TrainOptions& options, const Context& context);

/// For kernel values that several machines need.
std::size_t shared_part(const TrainOptions& options, const Context& context);

/// For kernel rows that are kept from one fold to the next.
std::size_t kept_part(const TrainOptions& options, const Context& context);

/// The context of one `machine` without its share of kept rows, where each of the machines trained
/// at a time has its part of the threads of `all`.
Context beside_kept(const Context& machine, const TrainOptions& options, const Context& all);

}  // namespace maxmargin
