#pragma once

#include <optional>
#include <span>

#include "maxmargin/train/folds/cross_validate.hpp"

// From decision values of rows that a machine has not seen to probabilities. Applying them is in
// model/probability.hpp.

namespace maxmargin {

/// The sigmoid that makes the likelihood of the targets (+1 or -1) largest, with the slightly
/// softened targets and the Newton steps of Lin, Lin and Weng (2007): what LIBSVM fits. A row of
/// weight 3 counts as three rows; no weights: all 1. Ends when both derivatives are below
/// `tolerance`.
PlattSigmoid fit_sigmoid(std::span<const double> f, std::span<const double> target,
                         std::span<const double> weight = {}, double tolerance = 1e-5);

/// Fits probabilities, noise or novelty to the decision values of unseen rows. Rows count with
/// their weights, and classes with theirs: the probabilities are those of the weighted data, where
/// the predicted class is the likelier one.
Calibration calibrate(const Prepared& prepared, const OutOfFold& judged, const Task& task,
                      int folds);

}  // namespace maxmargin
