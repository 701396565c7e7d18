#pragma once

#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// The memory budget of a training: that of the context, or of the options, or of the computer.
MemoryBudget memory_for(const TrainOptions& options, const Context& context);

/// The context of one `machine` without its share of the kernel rows that folds need again, where
/// each of the machines trained at a time has its part of the threads of `all`.
Context beside_rows_of_folds(const Context& machine, const TrainOptions& options,
                             const Context& all);

}  // namespace maxmargin
