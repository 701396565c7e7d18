#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/online/learner.hpp"

// Rows for the tests of this folder.

namespace maxmargin::made {

inline constexpr std::size_t features = 5;

/// Sparse rows with some zeros, and labels of each kind.
struct MadeStream {
  Features x = Features::sparse(features);
  std::vector<double> sign, number;

  explicit MadeStream(std::size_t rows, std::uint64_t seed = 7, double least = -1) {
    Rng rng(seed);
    for (std::size_t i = 0; i < rows; ++i) {
      std::vector<double> row(features, 0.0);
      for (double& each : row)
        if (rng.uniform() < 0.8) each = rng.uniform(least, 1);
      x.append(row);
      sign.push_back(row[0] * row[1] + 0.3 * row[2] + 0.2 * rng.normal() > 0 ? 1 : -1);
      number.push_back(std::sin(3 * row[0]) + row[1] + 0.1 * rng.normal());
    }
  }
  StreamRow row(std::size_t i) const {
    const Rows rows = x;
    values_.resize(std::max(values_.size(), x.count()));
    if (values_[i].empty())
      rows.for_each(i, [&](Index, double value) { values_[i].push_back(value); });
    return {{rows.index + rows.start[i], values_[i].size()}, values_[i], i};
  }
  double label(Outcome outcome, std::size_t i) const {
    return outcome == Outcome::number ? number[i] : sign[i];
  }

 private:
  mutable std::vector<std::vector<double>> values_;
};

inline std::vector<std::vector<double>> gram(const Kernel& kernel, const Rows& rows) {
  std::vector<std::vector<double>> K(rows.count, std::vector<double>(rows.count));
  for (std::size_t i = 0; i < rows.count; ++i)
    for (std::size_t j = 0; j <= i; ++j) K[i][j] = K[j][i] = naive_value(kernel, rows, i, rows, j);
  return K;
}

}  // namespace maxmargin::made
