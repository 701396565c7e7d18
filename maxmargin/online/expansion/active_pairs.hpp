#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace maxmargin {

/// SMO with second-order selection (Fan, Chen and Lin 2005) on the active rows of a DualLearner,
/// all others fixed:
///
///   min 1/2 alpha' K alpha - y'alpha,   sum alpha fixed,   least <= alpha <= most.
///
/// The active rows are copied into arrays of their own, so that a step costs O(active rows).
class ActivePairs {
 public:
  /// k(x_slot, .) by slot, valid until the next call.
  using KernelRow = std::function<std::span<const double>(std::size_t slot)>;

  void clear();
  void add(std::size_t slot, double alpha, double gradient, double least, double most, double self);

  /// Makes pair steps until the KKT violation is within the tolerance, `most_steps` at most;
  /// returns how many.
  std::size_t solve(double tolerance, std::size_t most_steps, const KernelRow& kernel_row);

  /// Replaces the gradient of the i-th row, where it was computed with fewer rounding errors.
  void set_gradient(std::size_t i, double gradient) { gradient_[i] = gradient; }
  bool has(std::size_t slot) const { return slot < is_active_.size() && is_active_[slot]; }
  std::size_t size() const { return slot_.size(); }
  std::size_t slot(std::size_t i) const { return slot_[i]; }
  double alpha(std::size_t i) const { return alpha_[i]; }

 private:
  std::span<const double> sub_row(std::size_t i, const KernelRow& kernel_row);

  std::vector<std::size_t> slot_;
  std::vector<double> alpha_, gradient_, least_, most_, self_;
  std::vector<std::vector<double>> kernel_;  ///< rows of K over the active rows, made on demand
  std::vector<bool> is_active_;              ///< by slot
};

}  // namespace maxmargin
