#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/base/named.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// How a point of a hull moves.
enum class HullStep {
  exchange,  ///< weight goes from the farthest vertex it has to the nearest
  toward     ///< towards the nearest vertex, or away from the farthest one (Frank and Wolfe)
};
template <>
struct Named<HullStep> {
  static constexpr std::array<std::pair<HullStep, std::string_view>, 2> values = {
      {{HullStep::exchange, "exchange"}, {HullStep::toward, "toward"}}};
};

/// The maximum margin perceptron (S16; Learning with Kernels 10.7.1; Kowalczyk 2000): the widest
/// margin between two classes as the nearest points of their convex hulls,
///
///   min |x - z|^2,   x in the hull of one class, z in that of the other,
///
/// by Frank-Wolfe steps: the vertex that is nearest along x - z gains weight, with the best length
/// of step. Without an equality row (the bias penalised or left out) it is the point nearest to 0
/// of the one hull of all s_v x_v. The dual of a hard margin, and of squared hinge losses (K + c I
/// makes every two classes separable), is this problem but for a factor, which is known. K positive
/// semi-definite. A step costs O(m) and a row of K, or two.
struct MaxMarginPerceptron {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for rows of K
  HullStep hull_step = HullStep::exchange;
  CachePolicy cache = CachePolicy::row;

  static constexpr std::string_view name = "perceptron";
  static constexpr std::string_view summary =
      "the maximum margin perceptron: nearest points of two convex hulls; a hard margin, or "
      "squared hinge losses";
  static constexpr auto fields =
      std::tuple{field("hull-step", &MaxMarginPerceptron::hull_step,
                       "exchange weight between two vertices, or go toward one and away from one"),
                 field("cache", &MaxMarginPerceptron::cache, cache_help)};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const MaxMarginPerceptron& options);

Solution run(const DualQp& qp, const MaxMarginPerceptron& options, const Run& run);

}  // namespace maxmargin
