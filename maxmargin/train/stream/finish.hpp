#pragma once

#include "maxmargin/online/learner.hpp"
#include "maxmargin/train/train.hpp"

// Solves the batch problem of which the rule made one step per row,
//
//   lambda/2 |f|^2 + 1/n sum_i c(y_i, g(x_i)),
//
// over the n rows that the learner keeps (all of them, or those in f), solved from the stream's
// solution.

namespace maxmargin {

/// Throws a usage Error where a rule has no such problem, or the learner no rows of the data.
void require_finishable(const LearnerOptions& options);

/// The model has the numbers of the stream's rows; `rows`: how many the stream had.
Trained finish(const Learner& learner, std::uint64_t rows, const Threads& threads);

}  // namespace maxmargin
