#pragma once

#include <memory>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Decision functions that are linear in a row's features, as w of every machine in double: the
/// linear kernel, where w = sum of coefficient times support vector, and the precomputed one, where
/// the features are kernel values and w holds the coefficients themselves.
class Weights {
 public:
  /// Nothing if the kernel is neither, or if w would be much larger than the model itself.
  static std::unique_ptr<Weights> of(const Model& model, const WeightChoice& choice = {});

  /// sums[m] += w_m'x
  void add(const Rows& rows, std::size_t row, double* sums) const;

 private:
  std::size_t machines_ = 0;
  std::vector<double> w_;  ///< [feature][machine], up to the last feature in use
};

}  // namespace maxmargin
