#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// How steps satisfy the equality rows of a problem. A step of two variables leaves rows satisfied
/// whose entries are the signs of their variables, where no variable is in two of them (pair rows);
/// the other rows are coupled.
struct RowKinds {
  std::vector<std::size_t> pair;       ///< rows that steps of pairs leave satisfied
  std::vector<std::size_t> coupled;    ///< the others
  std::vector<double> scale;           ///< of each pair row: entries are the signs times this
  std::vector<bool> in_pair_row;       ///< of each variable
  std::optional<std::string> refusal;  ///< why pairs cannot solve the problem
};
RowKinds sort_rows(const DualQp& qp);
/// Whether every variable is in a pair row; the others first need one, see sum_row.hpp.
bool covers_all(const RowKinds& kinds);

/// The coupled rows, by the method of multipliers (Hestenes, Powell 1969): the objective gets the
/// terms
///   mu' r + penalty / 2 |r|^2,   r = B beta - e
/// where B are the coupled rows in beta = s a, made orthogonal to the pair rows and to each other,
/// with entries of size 1. To minimise it for one mu after another, mu += penalty r, is the
/// proximal point method on the coefficients of the unpenalised functions. It converges for every
/// penalty, the faster the larger it is.
class CoupledRows {
 public:
  CoupledRows() = default;
  CoupledRows(const DualQp& qp, const RowKinds& kinds);

  bool empty() const { return rows_ == 0; }
  std::size_t rows() const { return rows_; }
  /// Of all rows, for one variable of the whole problem.
  const double* entries(std::size_t variable) const { return entries_.data() + variable * rows_; }

  /// Computes r from beta.
  void measure(std::span<const double> beta);
  /// Updates r after a change of one beta.
  void move(std::size_t variable, double change);
  const std::vector<double>& residual() const { return residual_; }
  double largest_residual() const;
  /// By how much mu would change now, at most.
  double pending() const { return penalty_ * largest_residual(); }
  double penalty() const { return penalty_; }

  /// What the terms add to the kernel value of two variables.
  double kernel(std::size_t v, std::size_t w) const;
  /// What the terms add to the derivative of the objective by one beta.
  double slope(std::size_t variable) const;
  /// mu := mu + penalty r. Where r has not become much smaller since the last time, the penalty
  /// grows.
  void update();
  /// mu := mu + penalty r + step, where a step by other means changes r.
  void shift(std::span<const double> step);

  /// mu from the multipliers of all rows of the problem.
  void start_from(const RowKinds& kinds, std::span<const double> lambda);
  /// r has not become smaller for many updates: the rows are infeasible, or all of r is rounding.
  bool is_stuck() const;

  /// The multipliers of all rows of the problem, from those of the pair rows when they are alone.
  std::vector<double> multipliers(const RowKinds& kinds, std::span<const double> pair) const;

 private:
  void watch(double size);

  std::size_t rows_ = 0;
  std::vector<double> entries_;     // B, variable by variable
  std::vector<double> right_side_;  // e
  std::vector<double> made_of_;     // B in terms of all rows of the problem: rows_ x all
  std::vector<double> mu_, residual_;
  double penalty_ = 1, least_penalty_ = 1;
  double last_size_ = infinity;  // of r at the last update
  double least_size_ = infinity;
  std::size_t idle_ = 0;  // updates without a smaller r
};

}  // namespace maxmargin
