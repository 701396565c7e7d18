#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// One coefficient beta = s a of f, or beta = a - a* where both sides of a tube stand on one point
/// and in one equality row: what a pair step moves. Its share of the objective is
///
///   psi(beta) = right beta + right_bend beta^2 / 2   for beta >= 0
///               left  beta + left_bend  beta^2 / 2   for beta <= 0      on [low, high],
///
/// convex, with a kink of right - left >= 0 at 0 where there are two variables; or that of an
/// entropy.
struct Site {
  static constexpr std::uint32_t none = 0xffffffffu;

  Index point = 0;
  std::uint32_t group = 0;     ///< the equality row, among those that pairs keep
  std::uint32_t plus = 0;      ///< the variable, or that of sign + where there are two
  std::uint32_t minus = none;  ///< the other one
  double low = 0, high = 0;
  double right = 0, left = 0, right_bend = 0, left_bend = 0;
  const Block* entropy = nullptr;  ///< where it has one: psi' and psi'' are its own

  bool has_kink() const { return minus != none; }
  /// psi' to the right and to the left.
  double slope_right(double beta) const;
  double slope_left(double beta) const;
  double bend(double beta) const;
  bool can_grow(double beta) const { return beta < high; }
  bool can_fall(double beta) const { return beta > low; }
  bool is_free(double beta) const {
    return beta > low && beta < high && !(has_kink() && beta == 0);
  }
};

/// The sites of a problem; `group_of` is the equality row of each variable.
std::vector<Site> sites_of(const DualQp& qp, std::span<const std::uint32_t> group_of);

/// beta of each site and back: of both sides of a tube one is zero.
std::vector<double> to_sites(const DualQp& qp, std::span<const Site> sites,
                             std::span<const double> a);
std::vector<double> to_variables(const DualQp& qp, std::span<const Site> sites,
                                 std::span<const double> beta);

/// What decides a step in which `grows` gains t >= 0 and `falls` loses it: the sites, their
/// coefficients, f at their points and chi = K_ii + K_jj - 2 K_ij.
struct Pair {
  const Site& grows;
  const Site& falls;
  double grows_beta, falls_beta;
  double grows_f, falls_f;
  double chi;

  /// The derivative of the objective at t = 0: the step pays where it is negative.
  double slope() const {
    return grows_f + grows.slope_right(grows_beta) - falls_f - falls.slope_left(falls_beta);
  }
  /// The longest step within the bounds.
  double longest() const {
    const double up = grows.high - grows_beta, down = falls_beta - falls.low;
    return up < down ? up : down;
  }
  /// The change of the objective.
  double change(double t) const;

  /// The step that minimises the objective over the pair, exactly, times zeta in (0, 2) as far as
  /// that lowers it: the objective is a parabola between the kinks, so that a step beyond its
  /// minimum ends at the next kink or bound at the latest. For entropies the minimum is found by
  /// Newton's method. Infinite where nothing ends the descent. Requires slope() < 0.
  double best(double zeta) const;
};

}  // namespace maxmargin
