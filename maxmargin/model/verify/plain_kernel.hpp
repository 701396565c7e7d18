#pragma once

#include <span>

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// Kernel values of training rows with a model's support vectors, straight from the definition of
/// the kernel, pair by pair and feature by feature, in double. Shares nothing with the engines, so
/// that `verify` is a second witness.
class PlainKernel {
 public:
  /// `rows` are the training rows after scaling. Throws Error for a kernel without its function.
  PlainKernel(const Model& model, const Rows& rows);

  /// values[k] = K(row, support vector k)
  void row(std::size_t row, std::span<double> values) const;

 private:
  void from_form(const Form& form, std::size_t row, std::span<double> values) const;

  const Model& model_;
  Rows rows_;
  Rows support_;
  bool is_spread_ = false;      ///< if that is not too large:
  std::vector<double> spread_;  ///< the support vectors as dense rows of doubles
};

}  // namespace maxmargin
