#pragma once

#include "maxmargin/data/renumbering.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/formulate/problems.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin {

/// Data made ready to train on, once or several times: scaled, gaps between features closed, equal
/// rows found, machines stated.
struct Prepared {
  Examples examples;
  Renumbering numbers;  ///< of the features of the examples; models have the numbers of the data
  Subproblems problems;
  std::vector<double> y;       ///< as in Dataset
  std::vector<double> weight;  ///< as in Dataset; of two weights a row their mean
  std::size_t features = 0;
  std::vector<std::string> feature_names;
  Scaling scaling;
  std::string data_hash;
  std::size_t merged_rows = 0;
  double seconds = 0;  ///< that scaling and looking for equal rows took

  double weight_of(std::size_t row) const { return weight.empty() ? 1 : weight[row]; }
  /// Whether the time was over before the kernel was approximated.
  Ended ended() const {
    const bool stopped = examples.approximation && examples.approximation->low.stopped;
    return stopped ? Ended::time_limit : Ended::converged;
  }
};
Prepared prepare(Dataset data, const TrainOptions& options, const Context& context);

/// Trains `problems`, which are those of `prepared` or what is left of them without some rows.
Trained train(const Prepared& prepared, const Subproblems& problems, const TrainOptions& options,
              const Context& context);

/// Chosen rows of the examples as the machines of a model see them.
RowsToPredict rows_to_predict(const Prepared& prepared, std::span<const Index> rows);

/// A model with task and options only.
Model model_asked_for(const Subproblems& problems, const TrainOptions& options);

/// The certificate of several machines: their objectives and gaps summed, the worst of the rest.
void add_to(Certificate& sum, const Certificate& part);

/// The worse of two endings.
Ended worse(Ended x, Ended y);

}  // namespace maxmargin
