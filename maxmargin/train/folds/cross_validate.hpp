#pragma once

#include "maxmargin/train/folds/folds.hpp"
#include "maxmargin/train/folds/retrain.hpp"

namespace maxmargin {

/// Out-of-fold predictions: each row by the machines that were trained on the other folds.
struct OutOfFold {
  /// As of Predictor::predict: class number, number, or +1 and -1; NaN for rows of weight 0.
  std::vector<double> predicted;
  /// f of machine m (of Prepared::problems) at its k-th example; NaN where there was no such
  /// machine, because without the fold one of its classes had no rows. One-class: as large as if it
  /// had been trained on all rows. Of thousands of machines, only where probabilities are asked
  /// for.
  std::vector<std::vector<double>> f;
  Ended ended = Ended::converged;  ///< the worst
  std::uint64_t iterations = 0;    ///< summed
};
/// `retrainer`: of all rows, where it is there already. The machines of the folds start from its
/// own (see retrain.hpp): five folds cost about as much as two trainings.
OutOfFold judge_out_of_fold(const Prepared& prepared, const Folds& folds,
                            const TrainOptions& options, const Context& context,
                            const Retrainer* retrainer = nullptr);

/// How well the predictions fit, every row counting with its weight.
struct CrossValidated {
  Outcome outcome = Outcome::classes;
  std::vector<std::string> classes;
  Folds folds;
  std::vector<double> predicted;  ///< of each row, see OutOfFold
  double rows = 0;                ///< summed weights
  double accuracy = 0;            ///< classes; novelty: where all labels are 1 and -1, else NaN
  double novel_share = 0;         ///< novelty
  double mean_squared_error = 0, mean_absolute_error = 0, squared_correlation = 0;  ///< numbers
  Ended ended = Ended::converged;
  std::uint64_t iterations = 0;
  double seconds = 0;
};

/// Stratified and drawn with options.seed. A scaling is learned once, from all rows; it does not
/// look at labels.
CrossValidated cross_validate(Dataset data, const TrainOptions& options, int folds,
                              const Context& context);

}  // namespace maxmargin
