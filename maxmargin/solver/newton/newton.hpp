#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Newton's method on the primal (S12; Learning with Kernels, problem 10.17, and 16.4.1), for
///
///   min over f, lambda   1/2 |f|^2 + sum_v phi_v*(-h_v) + lambda'd
///   with                 h_v = s_v f(x_v) + (A'lambda)_v
///
/// with any equality rows (the unpenalised functions) and a positive semi-definite K. The losses
/// phi* have a derivative, -a_v, and a curvature, D_v, that jumps at most: squared, logistic and
/// huberised ones are taken as they are; those with corners (hinge, tube, nu) by a sequence of
/// smooth ones, each a curvature more that is a tenth of the one before. A step solves
///
///   (K_SS + D_S^-1) a_S + A_S'lambda = ..,   A_S a_S = ..
///
/// over the variables S with a curvature: by Cholesky factors, O(|S|^3), or by conjugate gradients,
/// O(|S|^2) each, where these are more than `dense`; where K = Z Z' with n columns (linear, or low
/// rank) a system of n numbers instead (Sherman, Morrison and Woodbury), O(m n^2). The dual point
/// is read off the gradient, a = argmax phi*(-h), so that the answer is certified like all others.
struct PrimalNewton {
  Stop stop;
  std::size_t cache_bytes = std::size_t{1} << 30;  ///< for the factors
  int dense = 4000;
  double first_curvature = 1;
  CachePolicy cache = CachePolicy::function;

  static constexpr bool any_convex_cost = true;
  static constexpr std::string_view name = "newton";
  static constexpr std::string_view summary =
      "Newton's method on the primal, losses with corners by smooth ones; any equality rows";
  static constexpr auto fields = std::tuple{
      field("dense", &PrimalNewton::dense,
            "variables up to which a step takes Cholesky factors, and conjugate gradients beyond",
            Range{0, 100000, false, false, "from 0 to 100000"}),
      field("first-curvature", &PrimalNewton::first_curvature,
            "of the smooth losses in the place of those with corners, times the largest K(x, x)",
            positive),
      field("cache", &PrimalNewton::cache, cache_help)};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const PrimalNewton& options);

Solution run(const DualQp& qp, const PrimalNewton& options, const Run& run);

}  // namespace maxmargin
