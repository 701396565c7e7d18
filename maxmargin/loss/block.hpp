#pragma once

#include <algorithm>
#include <limits>

namespace maxmargin {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// One dual variable's share of the problem: phi(t) = linear t + curvature t^2 / 2 on
/// [lower, upper], and the sign with which the variable enters the decision function.
/// A loss is one or two blocks per example; everything else follows from these five numbers.
struct Block {
  double sign = 1;
  double linear = 0;
  double lower = 0;
  double upper = 0;
  double curvature = 0;

  /// phi(t), for t within the bounds.
  double value(double t) const { return linear * t + curvature * t * t / 2; }

  /// The t that attains phi*(slope); where a whole interval does, the end nearer to the bounds that
  /// `slope` points to. Infinite when the supremum is not attained.
  double argmax(double slope) const {
    const double rest = slope - linear;
    if (curvature > 0) return std::clamp(rest / curvature, lower, upper);
    return rest > 0 ? upper : lower;
  }

  /// The conjugate phi*(slope) = sup over t of slope t - phi(t); +infinity where unbounded.
  double conjugate(double slope) const {
    const double rest = slope - linear;
    const double t = argmax(slope);
    if (curvature == 0 && rest == 0) return 0;
    if (t == infinity || t == -infinity) return infinity;
    return rest * t - curvature * t * t / 2;
  }
};

}  // namespace maxmargin
