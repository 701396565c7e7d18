#pragma once

#include <span>
#include <vector>

#include "maxmargin/certify/known.hpp"
#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"

namespace maxmargin {

/// A function in the span of a basis.
struct Projected {
  std::vector<double> f;             ///< at all points
  std::vector<double> coefficients;  ///< of the basis functions
};

/// A problem over K~ = Z Z' in which the variables of some points keep their values: what is left
/// of it for the others. With w_F = Z_F' beta_F of those that are out of play, which need no row of
/// Z: T w_F = K_BF beta_F, the variables in play have p + s z'w_F in place of p.
class RowsInPlay {
 public:
  /// `low` is over the points in play, in their order. All arguments must outlive it.
  RowsInPlay(const DualQp& whole, std::span<const Index> play, const Approximated& low,
             std::span<const double> a, const Context& context);

  const DualQp& problem() const { return problem_; }
  /// The values of `a` as a start of it.
  Known start(std::span<const double> a) const;
  /// Its solution, into the variables of the whole.
  void put_back(std::span<const double> solution, std::vector<double>& a) const;
  /// f~ of all variables.
  Projected function(std::span<const double> a) const;

 private:
  std::vector<double> coefficients_in_play(std::span<const double> a) const;

  const DualQp& whole_;
  std::span<const Index> play_;
  const Approximated& low_;
  const Threads& threads_;
  std::vector<Index> variables_;  // in play
  std::vector<double> fixed_;     // w_F
  DualQp problem_;
};

/// How far each point is from changing its variables: the smallest multiplier of those that stand
/// at a bound, negative if it has the wrong sign; 0 if one of them is between its bounds.
std::vector<double> distances(const DualQp& qp, std::span<const double> a,
                              std::span<const double> f, std::span<const double> lambda);

}  // namespace maxmargin
