#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace maxmargin {

/// SMO on some of the rows of a dual machine, in arrays of their own: a step costs what these rows
/// cost, not what all of them cost. The problem is that of DualLearner,
///
///   min 1/2 alpha' K alpha - y'alpha,   sum alpha fixed,   least <= alpha <= most.
class ActivePairs {
 public:
  /// k(x_slot, .) by slot, valid until the next call.
  using KernelRow = std::function<std::span<const double>(std::size_t slot)>;

  void clear();
  void add(std::size_t slot, double alpha, double gradient, double least, double most, double self);

  /// Moves pairs, chosen by second order (Fan, Chen and Lin 2005), until the KKT violation is
  /// within the tolerance. Returns the steps made, `most_steps` at most.
  std::size_t solve(double tolerance, std::size_t most_steps, const KernelRow& kernel_row);

  /// The gradient of the i-th row, summed anew.
  void set_gradient(std::size_t i, double gradient) { gradient_[i] = gradient; }
  bool has(std::size_t slot) const { return slot < is_active_.size() && is_active_[slot]; }
  std::size_t size() const { return slot_.size(); }
  std::size_t slot(std::size_t i) const { return slot_[i]; }
  double alpha(std::size_t i) const { return alpha_[i]; }

 private:
  std::span<const double> sub_row(std::size_t i, const KernelRow& kernel_row);

  std::vector<std::size_t> slot_;
  std::vector<double> alpha_, gradient_, least_, most_, self_;
  std::vector<std::vector<double>> kernel_;  ///< among these rows, as far as was asked for
  std::vector<bool> is_active_;              ///< by slot
};

}  // namespace maxmargin
