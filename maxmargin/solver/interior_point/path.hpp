#pragma once

#include <optional>
#include <span>
#include <vector>

#include "maxmargin/solver/equations/active_set.hpp"

namespace maxmargin {

/// A point inside the bounds with its multipliers, and the Newton steps that lead along the path
/// g z = t s = mu to the optimum (10.46). g and t, the distances from the bounds, are numbers of
/// their own: close to a bound they have digits that `a` has lost to cancellation.
class Path {
 public:
  /// Held this firmly by a bound, in units of its share of Q, a variable no longer moves.
  static constexpr double usual_decision = 1e5;

  Path(const DualQp& qp, PointMatrix& K, ReducedKkt& kkt, double decided = usual_decision);

  /// One predictor and corrector. `stopped` leaves everything as it was.
  Factor::Outcome step(const GoOn& go_on);

  /// What is left of the complementarity g'z + t's, of the gradient equations, and of A a = d; the
  /// first relative to the objective, the others to their own terms.
  struct Rest {
    double gap, gradient, equality;
  };
  Rest rest() const;

  /// The length of the last step, 1 for a whole one.
  double last_length() const { return length_; }

  /// Fixes variables at their bounds whose multipliers leave no doubt, and frees fixed ones whose
  /// multiplier has come to have the wrong sign. Returns how many were freed.
  std::size_t remove_decided();
  /// Frees all fixed variables whose multiplier has the wrong sign; returns how many.
  std::size_t readmit();

  std::vector<Side> sides() const;
  const std::vector<double>& a() const { return a_; }
  const std::vector<double>& lambda() const { return lambda_; }
  std::size_t active() const { return active_.size(); }
  double dual_objective() const { return -objective_; }
  /// Grows without end when the problem has no optimum.
  double size_of_a() const;
  double squared_norm() const;  ///< a'Q~a, Q without the curvature

 private:
  struct Direction {
    std::vector<double> a, z, s;  // in the order of the active variables
    std::vector<double> lambda;
  };
  void start();
  void refresh();
  double slope(std::size_t v) const;  ///< phi'
  double bend(std::size_t v) const;   ///< phi''
  double mu() const;
  bool has_lower(std::size_t v) const { return qp_.block[v].lower > -infinity; }
  bool has_upper(std::size_t v) const { return qp_.block[v].upper < infinity; }
  /// How firmly its bounds hold a variable, in units of its share of Q.
  double hold(std::size_t v, Side side) const;
  Direction direction(std::span<const double> lower_target,
                      std::span<const double> upper_target) const;
  double longest(const Direction& step) const;
  void advance(const Direction& step);

  const DualQp& qp_;
  PointMatrix& K_;
  ReducedKkt& kkt_;
  double decided_;
  std::vector<Index> active_;
  std::vector<Side> removed_;  ///< inside: not removed
  std::vector<double> a_, g_, t_, z_, s_;
  std::vector<double> lambda_;
  std::vector<double> f_;         ///< K beta
  std::vector<double> gradient_;  ///< Q a + p + A'lambda
  std::vector<double> own_;       ///< each variable's K(x, x) + c
  double objective_ = 0;          ///< 1/2 a'Qa + p'a
  double length_ = 0;
};

}  // namespace maxmargin
