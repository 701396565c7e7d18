#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "maxmargin/base/field.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Lagrangian support vector machines (S11), for  min 1/2 a'Qa + p'a,  a >= 0  without equality
/// rows, where every variable has a curvature: squared hinge and squared tube, with a bias that is
/// penalised or none. Needs K positive semi-definite; one system is factored, m x m for a kernel, n
/// x n where K = Z Z' with n columns (linear, or approximated), and then each iteration solves with
/// it:
///
///   Q a' = ((Qa + p) - gamma c a)_+ - p,     c the curvatures, 0 < gamma < 2
///
/// Source: Learning with Kernels, section 10.6.2, (10.107) to (10.119), algorithm 10.5, and problem
/// 10.16; (10.110) with a step of its own for each variable, so that the condition of theorem 10.7,
/// gamma c < 2 lambda m, holds for costs that differ. An iteration is one pass over Z, or m^2.
struct Lagrangian {
  Stop stop;
  std::size_t memory_bytes = std::size_t{1} << 32;  ///< no more than this for the matrices
  double relaxation = 1.9;                          ///< gamma

  static constexpr std::string_view name = "lagrangian";
  static constexpr std::string_view summary =
      "fixed-point iteration for squared losses without equality rows; any number of rows if "
      "linear";
  static constexpr auto fields =
      std::tuple{field("relaxation", &Lagrangian::relaxation, "step of the fixed-point iteration",
                       Range{0, 2, true, true, "greater than 0 and less than 2"})};
};

/// Why this solver cannot take a problem, or nothing.
std::optional<std::string> refuses(const DualQp& qp, const Lagrangian& options);

Solution run(const DualQp& qp, const Lagrangian& options, const Run& run);

}  // namespace maxmargin
