#pragma once

#include <functional>
#include <string>

#include "maxmargin/libsvm/parameters.hpp"

namespace maxmargin {

/// The environment of training in LIBSVM's way.
struct LibsvmRun {
  const Threads& threads;
  /// Receives what svm-train prints while it works; may be empty. Called by the calling thread
  /// only.
  std::function<void(const std::string&)> print{};
  std::function<void(const std::string&)> warn{};
  std::function<int()> random{};  ///< as C's rand(): what shuffles rows for cross-validation
  /// Called now and then, by any thread; true ends the training with the best model so far. May be
  /// empty.
  std::function<bool()> stop{};
};

// Features are numbered as in LIBSVM's files; of a precomputed kernel, feature 0 is the number of
// the row and feature j its kernel value with row j. The parameters have passed check(), the labels
// of classes first_broken_label(). Error when data and parameters do not fit.

/// Trains as LIBSVM does: classes in its order, every pair of them by itself, its probabilities,
/// the lines that svm-train prints. With rows of one class only the model always predicts that.
LibsvmModel libsvm_train(Dataset data, const LibsvmParameters& parameters, const LibsvmRun& run);

/// The prediction for each row by a model trained on the other folds. The folds are those of
/// LIBSVM: with the same `random`, the same rows.
std::vector<double> libsvm_cross_validation(Dataset data, const LibsvmParameters& parameters,
                                            int folds, const LibsvmRun& run);

}  // namespace maxmargin
