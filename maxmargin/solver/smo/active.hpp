#pragma once

#include <memory>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/solver/smo/coupled_rows.hpp"

namespace maxmargin {

/// The part of a problem that a solver still works on, in beta = s a: there a pair within one
/// equality row moves in opposite directions whatever the signs, and the derivative of every
/// variable is f at its point plus a term of its own. Shrinking makes a smaller one from it.
struct Active {
  std::shared_ptr<const Quadratic> K;  ///< over the points still needed
  std::vector<Index> point_id;         ///< their numbers in the whole problem, increasing
  std::vector<Index> id;               ///< the variables' numbers in the whole problem
  std::vector<Index> point;            ///< of each variable, in K
  std::vector<Index> row;              ///< of each variable: the pair row it stands in
  std::vector<double> beta, lower, upper, linear, curvature;
  std::vector<double> f;  ///< K beta, over all of beta, at the points of K

  /// All of a problem; `f` is not yet filled.
  Active(const DualQp& qp, const RowKinds& kinds, std::span<const double> a);
  /// A working set of another one, without a K: `number` has the point of each variable, from 0 on;
  /// empty: every variable has a point of its own, in their order. What lies outside of the set
  /// does not move.
  Active(const Active& whole, std::span<const Index> set, std::span<const Index> number = {});

  std::size_t size() const { return id.size(); }
  std::size_t rows() const { return rows_; }
  bool can_grow(std::size_t v) const { return beta[v] < upper[v]; }
  bool can_fall(std::size_t v) const { return beta[v] > lower[v]; }
  bool is_free(std::size_t v) const { return can_grow(v) && can_fall(v); }
  /// Minus the derivative of the objective; where it is higher beta wants to grow more.
  double negative_gradient(std::size_t v) const {
    return -(f[point[v]] + linear[v] + curvature[v] * beta[v]);
  }

  /// Of one pair row: m(a), the highest negative gradient of a variable that can grow (I_up), and
  /// M(a), the lowest of one that can fall (I_low); m(a) <= M(a) at the optimum.
  struct Range {
    double highest = -infinity, lowest = infinity;
    double violation() const { return highest - lowest; }
    /// 0 where there is none.
    double middle() const;
  };
  /// Of every pair row.
  struct Gradient {
    std::vector<Range> row;
    double violation() const;
  };
  /// Also keeps the negative gradient of every variable for violators().
  Gradient gradient(const Threads& threads);

  /// Between the highest negative gradient and the lowest.
  double spread() const;

  /// The derivative of the objective and its pair row's price by each beta, the price being in the
  /// middle of the row's gradient.
  std::vector<double> slopes(const Gradient& gradient) const;

  /// The most violating variables as of the last call of gradient(): `count` / 2 of I_up with the
  /// highest negative gradient and as many of I_low with the lowest, without those in `taken`;
  /// fewer if there are fewer. Most violating first. Once for each call of gradient().
  std::vector<Index> violators(std::size_t count, const Gradient& gradient,
                               std::span<const Index> taken, const Threads& threads);

  /// True for variables at a bound that would not leave it even if the gradient changed by
  /// `margin`.
  std::vector<bool> shrinkable(const Gradient& gradient, double margin) const;

  /// Leaves the marked variables out; returns the points that remain, in the numbering before.
  std::vector<Index> leave_out(const std::vector<bool>& marked);

 private:
  std::size_t rows_ = 1;
  std::vector<double> growing_;  ///< the negative gradient where beta can grow, else minus infinity
  std::vector<double> falling_;  ///< the negative gradient where beta can fall, else plus infinity
};

}  // namespace maxmargin
