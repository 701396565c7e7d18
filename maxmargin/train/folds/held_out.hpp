#pragma once

#include <span>
#include <vector>

#include "maxmargin/model/segmented_coefficients.hpp"
#include "maxmargin/train/formulate/prepared.hpp"

namespace maxmargin {

/// Decision values at rows of a data set of machines that were trained on other rows of it, by the
/// kernel matrix that all of its machines share: no row is copied, none is packed again.
class HeldOut {
 public:
  /// Whether there is such a matrix, and nothing else that values depend on.
  static bool takes(const Prepared& prepared) {
    return prepared.examples.K != nullptr && prepared.examples.functions.count() == 0;
  }

  /// `model` may do without its support vectors: they are rows `support_row` of the data. Keeps
  /// references to both.
  HeldOut(const Prepared& prepared, const Model& model)
      : prepared_(prepared), model_(model), coefficients_(model, model.support_row.size()) {}

  /// As of Predictor: values[row * machines + machine]. Kernel values are float, and double for
  /// those decision values on whose rounding the predicted class could depend.
  std::vector<double> decision_values(std::span<const Index> rows, const Threads& threads) const;

 private:
  Index point_of(std::uint64_t row) const {
    return prepared_.examples.point[prepared_.examples.first_equal[row]];
  }
  double exact_value(std::size_t machine, Index point) const;

  const Prepared& prepared_;
  const Model& model_;
  SegmentedCoefficients coefficients_;
};

}  // namespace maxmargin
