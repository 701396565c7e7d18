#pragma once

#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// The options, besides the task, that a model stores.
Texts recorded(const TrainOptions& options);

/// The options to train the machines of a model again: its task, kernel, functions, scaling, seed,
/// tolerance and gap. Throws Error for a model that does not state its task.
TrainOptions options_of_model(const Model& model);

}  // namespace maxmargin
