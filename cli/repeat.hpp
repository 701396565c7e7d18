#pragma once

#include "maxmargin/train/train.hpp"

namespace maxmargin::cli {

/// The options with which a model says it was trained, from its texts and typed values.
TrainOptions options_from(const Model& model);

/// Trains again, folds and all, and tells whether the same calibration comes out: "" where it does,
/// else what differs.
std::string differing_calibration(const Model& model, Dataset data, const Threads& threads);

}  // namespace maxmargin::cli
