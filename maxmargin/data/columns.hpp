#pragma once

#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// How the values of each feature are spread. Absent entries of sparse rows count as zeros.
struct Columns {
  std::vector<Index> feature;  ///< the features described: all of dense rows, the stored of sparse
  std::vector<double> low, high, mean, deviation;
  std::uint64_t nonzeros = 0;  ///< of all features together

  std::size_t size() const { return feature.size(); }
  bool constant(std::size_t k) const { return low[k] == high[k]; }
  /// From the mean square of the distances from the mean.
  void set_deviation(std::size_t k, double square);
};

/// Takes memory for the features that occur, however large their numbers are.
Columns describe_columns(const Rows& rows);

}  // namespace maxmargin
