#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/data/dataset.hpp"
#include "maxmargin/data/like.hpp"

// Small data sets that tests make for themselves. All features lie in [0, 1], so that every kernel
// accepts them.
namespace maxmargin::made {

enum class Storage { dense_floats, dense_doubles, sparse };

inline std::string name_of(Storage storage) {
  return storage == Storage::dense_floats
             ? "dense floats"
             : (storage == Storage::sparse ? "sparse" : "dense doubles");
}

/// Rows of numbers in [0, 1]; about two in three of the sparse ones are zero.
inline Features features(std::size_t rows, std::size_t columns, Storage storage, Rng& rng) {
  Features x = no_rows(storage == Storage::sparse, columns);
  std::vector<double> row(columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& value : row) {
      value = rng.uniform();
      if (storage == Storage::sparse && rng.uniform() < 0.65) value = 0;
      if (storage != Storage::dense_doubles) value = static_cast<float>(value);
    }
    x.append(row);
  }
  return x;
}

/// A smooth function of a row, between about -1 and 1.
inline double target(const Rows& x, std::size_t row) {
  double sum = 0;
  x.for_each(row, [&](Index feature, double value) {
    sum += (feature % 2 == 0 ? 1.0 : -1.0) * std::sin(2.5 * value + 0.3 * feature);
  });
  return sum / std::sqrt(static_cast<double>(x.columns));
}

/// `classes` classes numbered from 1 (two: -1 and +1) by bands of the target, a tenth of the labels
/// wrong.
inline Dataset classification(std::size_t rows, std::size_t columns, Storage storage,
                              std::uint64_t seed, int classes = 2) {
  Rng rng(seed);
  Dataset data;
  data.x = features(rows, columns, storage, rng);
  std::vector<double> targets;
  for (std::size_t i = 0; i < rows; ++i) targets.push_back(target(data.x, i));
  std::vector<double> sorted = targets;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < rows; ++i) {
    const auto rank = std::lower_bound(sorted.begin(), sorted.end(), targets[i]) - sorted.begin();
    auto band = static_cast<int>(rank * classes / static_cast<std::ptrdiff_t>(rows));
    if (rng.uniform() < 0.1)
      band = static_cast<int>(rng.below(static_cast<std::uint64_t>(classes)));
    data.y.push_back(classes == 2 ? 2 * band - 1 : band + 1);
  }
  return data;
}

inline Dataset regression(std::size_t rows, std::size_t columns, Storage storage,
                          std::uint64_t seed) {
  Rng rng(seed);
  Dataset data;
  data.x = features(rows, columns, storage, rng);
  for (std::size_t i = 0; i < rows; ++i) data.y.push_back(target(data.x, i) + 0.2 * rng.normal());
  return data;
}

/// Weights between 0.25 and 2.
inline std::vector<double> weights(std::size_t rows, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> result;
  for (std::size_t i = 0; i < rows; ++i) result.push_back(rng.uniform(0.25, 2));
  return result;
}

/// Some rows of a data set, in the given order; a row may come more than once.
inline Dataset chosen(const Dataset& data, const std::vector<Index>& which) {
  Dataset result;
  result.x = none_like(data.x);
  result.x.append(data.x, which);
  result.words = data.words;
  result.feature_names = data.feature_names;
  for (const Index row : which) {
    if (!data.y.empty()) result.y.push_back(data.y[row]);
    if (!data.weight.empty()) result.weight.push_back(data.weight[row]);
    if (!data.weight_over.empty()) result.weight_over.push_back(data.weight_over[row]);
  }
  return result;
}

inline Dataset copy_of(const Dataset& data) {
  std::vector<Index> all(data.rows());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
  return chosen(data, all);
}

}  // namespace maxmargin::made
