#pragma once

#include <functional>
#include <string>

#include "maxmargin/libsvm/parameters.hpp"

namespace maxmargin {

/// What training in LIBSVM's way is given beside data and parameters.
struct LibsvmRun {
  const Threads& threads;
  /// Takes what svm-train prints while it works; empty: nobody listens. Called by the thread that
  /// called, only.
  std::function<void(const std::string&)> print{};
  std::function<void(const std::string&)> warn{};
  std::function<int()> random{};  ///< as C's rand(): what shuffles rows for cross-validation
  /// Asked now and then, by any thread, whether to end with what there is; empty: never.
  std::function<bool()> stop{};
};

// Features are numbered as in LIBSVM's files; of a precomputed kernel, feature 0 is the number of
// the row and feature j its kernel value with row j. The parameters have passed check(), the labels
// of classes first_broken_label(). Error when data and parameters do not fit.

/// Trains as LIBSVM does: classes in its order, every pair of them by itself, its probabilities,
/// the lines that svm-train prints. Rows of one class only give a model that knows nothing else.
LibsvmModel libsvm_train(Dataset data, const LibsvmParameters& parameters, const LibsvmRun& run);

/// What is predicted of each row by a model trained on the other folds. The folds are those of
/// LIBSVM: with the same `random`, the same rows.
std::vector<double> libsvm_cross_validation(Dataset data, const LibsvmParameters& parameters,
                                            int folds, const LibsvmRun& run);

}  // namespace maxmargin
