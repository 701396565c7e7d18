#pragma once

#include "maxmargin/data/dataset.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// What is left for kernel values of a limit on the memory of the whole program, once the data is
/// read: the limit without what the process holds now, without the copies of the data that scaling
/// and packing make, without what solvers, certificates and folds keep of each row, and without
/// what a machine of several classes takes. Throws Error, with the limit that would do, where that
/// is not enough to train with.
std::size_t room_for_kernel(const Dataset& data, const TrainOptions& options, std::size_t limit);

}  // namespace maxmargin
