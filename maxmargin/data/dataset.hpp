#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "maxmargin/base/text.hpp"
#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// What was read: features, labels and what belongs to them. Vectors are empty where the data has
/// none of it.
struct Dataset {
  Features x;

  /// One label per row. Where every label is a number, `y` holds the numbers and `words` is empty;
  /// otherwise `words` lists the distinct labels (sorted) and `y` holds positions in it.
  std::vector<double> y;
  std::vector<std::string> words;

  std::vector<double> weight;  ///< per row, >= 0; empty: all 1
  /// Of a regression whose errors have two weights a row: that of predicting too much; `weight` is
  /// that of predicting too little then. Empty: one weight for both.
  std::vector<double> weight_over;
  std::vector<std::int64_t> query;         ///< qid of each row
  std::vector<std::string> feature_names;  ///< from a header

  bool counts_from_zero = false;  ///< LIBSVM text: the first feature has the index 0

  std::size_t rows() const { return x.count(); }
  bool labelled() const { return !y.empty(); }
};

/// The distinct labels of a data set in increasing order, and for each row its class number.
struct Classes {
  std::vector<double> values;      ///< the label as in Dataset::y
  std::vector<std::string> names;  ///< the label as text ("1", "-1", "0.5", "setosa")
  std::vector<Index> of_row;
};
Classes classes_of(const Dataset& data);

/// A 128-bit hash, as 32 hex digits, of rows, labels and weights: tells whether two data sets are
/// the same, however they are stored (dense or sparse, float or double, file format).
std::string content_hash(const Dataset& data);

}  // namespace maxmargin
