#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/solver/equations/point_matrix.hpp"

namespace maxmargin {

/// Solves the reduced KKT system (10.48) over some of the variables,
///
///   [ S'KS + D   A' ] [ x ]   [ r ]
///   [ A          0  ] [ y ] = [ q ],    D diagonal and positive,
///
/// where beta = S x are the coefficients of the points. Eliminating the variables that share a
/// point leaves one unknown a point, (K + E) beta = E S D^-1 r with 1/E_p = sum of 1/D_v over the
/// variables v of p: what (10.52-53) do for the two sides of a regression tube, for any number of
/// them. The rows of A follow by a Schur complement.
class ReducedKkt {
 public:
  ReducedKkt(const DualQp& qp, PointMatrix& K) : qp_(qp), K_(K) {}

  /// `variables` increasing, `D` in their order.
  Factor::Outcome factor(std::vector<Index> variables, std::vector<double> D, const GoOn& go_on);

  /// x in the order of the variables.
  struct Step {
    std::vector<double> x;
    std::vector<double> y;
  };
  Step solve(std::span<const double> r, std::span<const double> q) const;

  std::span<const Index> variables() const { return variables_; }
  std::size_t points() const { return points_.size(); }

 private:
  /// (S'KS + D)^-1 of `count` vectors over the variables, in place.
  void invert(std::vector<double>& r, std::size_t count) const;

  const DualQp& qp_;
  PointMatrix& K_;
  std::vector<Index> variables_;
  std::vector<double> D_;
  std::vector<Index> points_;        ///< increasing
  std::vector<Index> position_;      ///< of each variable's point
  std::vector<double> E_;            ///< of each point
  std::vector<Index> softest_;       ///< of each point: its variable with the smallest D
  std::vector<double> solved_rows_;  ///< (S'KS + D)^-1 A', row after row
  std::vector<double> schur_;        ///< A of them, scaled to a diagonal of ones
  std::vector<double> scale_;        ///< what it was scaled by
};

}  // namespace maxmargin
