#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Primal-dual path following (S5), for  min 1/2 a'Qa + p'a,  A a = d,  l <= a <= u  with any
/// number of equality rows and any bounds, infinite ones too. Needs K in memory, positive
/// semi-definite; returns the optimum to the last digits, the multipliers of the rows with it.
///
/// Source: Learning with Kernels, section 10.3, (10.43) to (10.53). An iteration costs the Cholesky
/// factors of one matrix over the points that are still in play, m^3/3, and some products, m^2.
struct InteriorPoint {
  Stop stop;
  std::size_t memory_bytes = std::size_t{1} << 32;  ///< no more than this for the matrices
  bool removal = true;  ///< leave variables out whose multipliers have decided, until proved wrong
  double low_rank = 0;  ///< more than 0: by columns close to K, see low_rank_path.hpp

  static constexpr bool any_convex_cost = true;  ///< blocks with an entropy too (problem 10.9)
  static constexpr bool takes_start = true;      ///< uses Run::start
  static constexpr std::string_view name = "interior-point";
  static constexpr std::string_view summary =
      "path following with all of K in memory, or columns close to it; any equality rows; the most "
      "digits";
  static constexpr auto fields = std::tuple{
      field("removal", &InteriorPoint::removal,
            "leave variables out whose multipliers have decided"),
      field("thin", &InteriorPoint::low_rank,
            "solve with columns that leave this share of the kernel's trace, and correct "
            "by products with the kernel itself; 0: with the whole matrix",
            non_negative)};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const InteriorPoint& options);

/// Throws Error when bounds or equality rows contradict themselves.
Solution run(const DualQp& qp, const InteriorPoint& options, const Run& run);

}  // namespace maxmargin
