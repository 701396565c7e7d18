#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/loss/convex_cost.hpp"

namespace maxmargin {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// What a block's phi may have besides its linear and quadratic parts: the conjugates of costs that
/// have no corner. Those that are built in have infinite slopes at their bounds, which are so never
/// reached.
enum class Entropy : unsigned char {
  none,
  logistic,     ///< t log t + (u - t) log(u - t) - u log u on [0, u]: u log(1 + e^g)
  exponential,  ///< t log(t / scale) - t on [0, inf): scale e^g
  own           ///< scale c*(-t / scale) for a c of the user's: scale c(-g)
};

/// One dual variable's share of the problem: phi(t) = linear t + curvature t^2 / 2 on
/// [lower, upper], and the sign with which the variable enters the decision function.
/// A loss is one or two blocks per example; everything else follows from these five numbers. Costs
/// beyond the piecewise quadratic ones add an entropy, with curvature 0.
struct Block {
  double sign = 1;
  double linear = 0;
  double lower = 0;
  double upper = 0;
  double curvature = 0;
  Entropy entropy = Entropy::none;
  double scale = 1;                 ///< of the exponential entropy and the user's own
  const ConvexCost* own = nullptr;  ///< of the loss, which lives longer than the problem
  double linear_error = 0;          ///< what `linear` may be rounded by, where it is a sum

  /// phi(t), for t within the bounds.
  double value(double t) const {
    const double quadratic = linear * t + curvature * t * t / 2;
    if (entropy == Entropy::none) return quadratic;
    const auto t_log = [](double x, double ratio) { return x > 0 ? x * std::log(ratio) : 0.0; };
    if (entropy == Entropy::own) return quadratic + scale * own->conjugate(own_slope(t));
    if (entropy == Entropy::exponential) return quadratic + t_log(t, t / scale) - t;
    return quadratic + t_log(t, t / upper) + t_log(upper - t, (upper - t) / upper);
  }

  /// phi'(t); infinite at the bounds of an entropy.
  double slope(double t) const {
    const double straight = linear + curvature * t;
    if (entropy == Entropy::none) return straight;
    if (entropy == Entropy::own) return straight - own->conjugate_slope(own_slope(t));
    return straight + std::log(t / (entropy == Entropy::exponential ? scale : upper - t));
  }

  /// phi''(t)
  double bend(double t) const {
    if (entropy == Entropy::none) return curvature;
    if (entropy == Entropy::own) return curvature + own->conjugate_bend(own_slope(t)) / scale;
    return curvature + 1 / t + (entropy == Entropy::logistic ? 1 / (upper - t) : 0);
  }

  /// The t that attains phi*(slope); where a whole interval does, the end nearer to the bounds that
  /// `slope` points to. Infinite when the supremum is not attained.
  double argmax(double slope) const {
    const double rest = slope - linear;
    if (entropy == Entropy::own) return std::clamp(-scale * own->slope(-rest), lower, upper);
    if (entropy == Entropy::exponential) return scale * std::exp(rest);
    if (entropy == Entropy::logistic) return upper / (1 + std::exp(-rest));
    if (curvature > 0) return std::clamp(rest / curvature, lower, upper);
    return rest > 0 ? upper : lower;
  }

  /// The conjugate phi*(slope) = sup over t of slope t - phi(t); +infinity where unbounded.
  double conjugate(double slope) const { return conjugate_beyond(slope - linear); }

  /// phi*(linear + rest)
  double conjugate_beyond(double rest) const {
    if (entropy == Entropy::own) return scale * own->value(-rest);
    if (entropy == Entropy::exponential) return scale * std::exp(rest);
    if (entropy == Entropy::logistic)
      return upper * (std::max(rest, 0.0) + std::log1p(std::exp(-std::abs(rest))));
    if (curvature == 0 && rest == 0) return 0;
    const double t = curvature > 0 ? std::clamp(rest / curvature, lower, upper)
                     : rest > 0    ? upper
                                   : lower;
    if (t == infinity || t == -infinity) return infinity;
    return rest * t - curvature * t * t / 2;
  }

  /// Its bounds are never reached, since phi has no finite slope there.
  bool is_open() const {
    return entropy != Entropy::none && !(entropy == Entropy::own && own->is_closed);
  }

  /// Nothing stops the variable on one side: a hard margin.
  bool is_hard() const {
    return entropy == Entropy::none && curvature == 0 && (upper == infinity || lower == -infinity);
  }

 private:
  /// The slope of the user's cost that a variable stands for.
  double own_slope(double t) const {
    return std::clamp(-t / scale, own->least_slope, own->most_slope);
  }
};

}  // namespace maxmargin
