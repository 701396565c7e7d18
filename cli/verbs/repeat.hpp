#pragma once

#include "maxmargin/train/train.hpp"

namespace maxmargin::cli {

/// The options that a model was trained with, from its texts and typed values.
TrainOptions options_from(const Model& model);

/// Trains again with all folds and compares the calibration: "" where it is the same, else what
/// differs.
std::string differing_calibration(const Model& model, Dataset data, const Threads& threads);

}  // namespace maxmargin::cli
