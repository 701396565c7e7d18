#pragma once

#include <algorithm>

namespace maxmargin {

/// Two equal points have no curvature between them; the step is then bounded by the box alone.
inline constexpr double least_pair_curvature = 1e-12;

/// The analytic step of SMO (Platt 1998), in beta = s a, where the sum of the two stays constant
/// when one grows by as much as the other falls. With F minus the derivative of the objective,
///
///   length = (F_up - F_down) / (K_uu + K_dd - 2 K_ud),
///
/// cut where one of them reaches its bound. The objective falls by length (by - length bottom / 2).
struct PairStep {
  double length = 0;    ///< 0: rounding allows no step
  double decrease = 0;  ///< of the objective
};

/// Moves two variables, `by` = F_up - F_down > 0 and `bottom` the curvature between them, no less
/// than least_pair_curvature. What reaches a bound lies on it exactly.
template <class Variable>
PairStep move_pair(Variable& up, Variable& down, double by, double bottom) {
  const double room_up = up.upper - up.beta, room_down = down.beta - down.lower;
  const double length = std::min({by / bottom, room_up, room_down});
  if (up.beta + length == up.beta && down.beta - length == down.beta) return {};
  up.beta = length == room_up ? up.upper : up.beta + length;
  down.beta = length == room_down ? down.lower : down.beta - length;
  return {length, length * (by - length * bottom / 2)};
}

}  // namespace maxmargin
