#pragma once

#include <string>
#include <vector>

#include "cli/options/train_options.hpp"

namespace maxmargin::cli {

/// A data file to train on, and its summary, which remains when training has taken the data.
struct TrainingData {
  Dataset data;
  TrainOptions options;
  std::size_t rows = 0, features = 0;
  double density = 0;
  double seconds = 0;  ///< that reading took
  std::string base;    ///< --base as found in the file, where it is not 1
};

/// Reads what the arguments name; warns where the features' scales would spoil the training.
TrainingData read_training_data(const TrainArguments& arguments, const Threads& threads);

/// "32,561 rows, 123 features, 2 classes (-1, 1), 11.3% non-zero"
std::string show_contents(const TrainingData& read, const std::vector<std::string>& classes);

}  // namespace maxmargin::cli
