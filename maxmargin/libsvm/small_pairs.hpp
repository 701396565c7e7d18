#pragma once

#include <optional>

#include "maxmargin/libsvm/train.hpp"

namespace maxmargin {

/// C-SVC of classes of a few rows each, of which hundreds make tens of thousands of machines of two
/// rows: straight into the form of LIBSVM's models, which hold no certificate. Each machine is
/// judged by its own kernel values in double. The model and what is printed are those of the
/// general way; nothing where it is needed (other types and kernels, more rows, equal rows, a
/// machine that does not get there).
///
/// What training is given has to have no gaps between its features. The model takes its rows.
std::optional<LibsvmModel> train_small_pairs(Dataset& data, const LibsvmParameters& parameters,
                                             const LibsvmRun& run);

}  // namespace maxmargin
