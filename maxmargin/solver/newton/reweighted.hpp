#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Iteratively re-weighted least squares (S16; Learning with Kernels 10.7.1; Perez-Cruz et al.
/// 2001), for the primal that Newton's method has (newton.hpp), with any equality rows and a
/// positive semi-definite K. In the place of every loss stands the parabola that touches it where f
/// is and has its foot where the loss begins: its weight is the slope over the residual, D_v = a_v
/// / e_v. A step solves the weighted least squares
///
///   (K_SS + D_S^-1) a_S + A_S'lambda = -p,   A_S a_S = d
///
/// over all examples S with a loss, and a line search makes sure of the descent. Those near the
/// margin have the large weights, that is, equations. They are bounded as in Newton's method: a
/// loss with a corner is rounded there, ever less. A parabola lies above a loss with a corner, so
/// that the steps are safe and short: this is not for many digits. The logistic and exponential
/// losses have their second derivative as weight, which is what re-weighting means for them.
struct ReweightedLeastSquares {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for the factors
  int dense = 4000;
  CachePolicy cache = CachePolicy::function;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "irls";
  static constexpr std::string_view summary =
      "iteratively re-weighted least squares on the primal; any equality rows, few digits for "
      "losses with corners";
  static constexpr auto fields = std::tuple{
      field("dense", &ReweightedLeastSquares::dense,
            "variables up to which a step takes Cholesky factors, and conjugate gradients beyond",
            Range{0, 100000, false, false, "from 0 to 100000"}),
      field("cache", &ReweightedLeastSquares::cache, cache_help)};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const ReweightedLeastSquares& options);

Solution run(const DualQp& qp, const ReweightedLeastSquares& options, const Run& run);

}  // namespace maxmargin
