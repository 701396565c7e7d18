#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "maxmargin/data/dataset.hpp"

namespace maxmargin {

/// What `maxmargin check` tells about a data set.
struct Description {
  std::size_t rows = 0, features = 0;
  std::uint64_t stored = 0, nonzeros = 0;
  double density = 0;  ///< nonzeros / (rows * features)
  bool sparse = false, floats = false;
  bool labelled = false, numeric_labels = false;
  std::vector<std::pair<std::string, std::size_t>>
      classes;  ///< name, rows; empty if more than 1000 distinct labels
  double label_low = 0, label_high = 0, label_mean = 0, label_deviation = 0;
  std::vector<Index> constant_features;  ///< of sparse rows: among those that occur
  std::size_t absent_features = 0;       ///< sparse rows: features below `features` that no row has
  double smallest_scale = 0, largest_scale = 0;  ///< of the deviations of the non-constant features
  Index smallest_scale_feature = 0, largest_scale_feature = 0;
  std::size_t duplicate_rows = 0;      ///< rows equal (features and label) to an earlier one
  std::size_t contradictory_rows = 0;  ///< rows whose features also occur with another label
  std::size_t empty_rows = 0;
  std::vector<std::string> advice;  ///< sentences a user should read, each with what to do
};

Description describe(const Dataset& data);

}  // namespace maxmargin
