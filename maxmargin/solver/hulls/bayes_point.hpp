#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// The Bayes point by kernel billiard (S16; Learning with Kernels 10.7.1; Rujan 1997; Herbrich,
/// Graepel and Campbell 2001): the mean of all w of length 1 that separate the classes, w's_v x_v >
/// 0 for all v. It is not the optimum of the problem: the answer is certified like every other, and
/// its gap tells how much wider a margin there is. There is no stopping rule but a limit.
///
/// A ball runs along great circles of the sphere |w| = 1 and bounces off the walls w's_v x_v = 0;
/// after 2 pi or so it turns, so that it does not go round in circles for ever.
/// By the theorem of Gauss the mean of a cone is the sum of the inner normals of its walls, each
/// times the area of its wall; and how hard a ball hits a wall in the long run tells that area.
/// Hence the Bayes point is sum a_v s_v x_v, where a_v >= 0 is the sum of what the bounces at v
/// gave the direction: a feasible point of the dual.
///
/// No equality row: the bias is left out or penalised. K positive semi-definite, classes separable,
/// which squared hinge losses make them (K + c I). A bounce costs O(m) and a row of K.
struct BayesPoint {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for rows of K
  std::uint64_t seed = 0;
  CachePolicy cache = CachePolicy::row;

  /// What it returns is another point than the optimum.
  static constexpr bool is_no_optimum = true;
  static constexpr std::string_view name = "bayes-point";
  static constexpr std::string_view summary =
      "the mean of all separating functions, by a billiard of --max-iterations bounces: not the "
      "optimum; a hard margin, or squared hinge losses, without an equality row";
  static constexpr auto fields = std::tuple{field("cache", &BayesPoint::cache, cache_help)};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const BayesPoint& options);

Solution run(const DualQp& qp, const BayesPoint& options, const Run& run);

}  // namespace maxmargin
