#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The same problem with orthogonal rows in place of A: multipliers that move one by one then
/// hardly disturb each other, however nearly dependent the rows were. With k linear combinations
/// A = L B, and d = L e, the constraint is B a = e and lambda'A = (L'lambda)'B. A row that depends
/// on those before it, to rounding, is left out; its multiplier is 0. Where its d is not what the
/// others say, no point meets all rows.
class OrthogonalRows {
 public:
  explicit OrthogonalRows(const DualQp& qp);

  const DualQp& problem() const { return problem_; }
  bool contradictory() const { return contradictory_; }

  /// Of the rows A, from that of the rows B, and the multipliers of the one from the other's.
  std::vector<double> residual(std::span<const double> of_new_rows) const;
  std::vector<double> multipliers(std::vector<double> of_new_rows) const;
  std::vector<double> new_multipliers(std::span<const double> of_old_rows) const;
  /// By how much a residual of A may exceed the largest one of B.
  double largest_growth() const;

 private:
  DualQp problem_;
  std::vector<std::vector<double>> L_;  // of each old row, lower triangular
  bool contradictory_ = false;
  std::vector<std::size_t> source_;  // the old row that each new row was made from
};

}  // namespace maxmargin
