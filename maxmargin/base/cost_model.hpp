#pragma once

#include <cstddef>

namespace maxmargin {

/// What operations take on one core, in nanoseconds: what decides between two ways of doing the
/// same. `bench/costs` measures each of these and prints it beside what is assumed here. Only their
/// rough proportions count; no choice is made by the clock, so that the same input takes the same
/// path on every machine.
struct CostModel {
  // Kernel values: each against what Quadratic::value_cost() says that computing one takes.
  double touch_value = 1.5;      ///< a float of fresh memory; cheaper values are not worth keeping
  double read_value = 0.5;       ///< a float of a long row that is kept
  double pick_value = 3;         ///< one out of many long rows
  double pick_cached_value = 1;  ///< one out of `cached_values`, rows in a cache
  std::size_t cached_values = std::size_t{1} << 20;
  double copy_value = 1;   ///< across the diagonal of a small matrix
  double allot_value = 6;  ///< a float of a store that several matrices share

  // Steps of solvers.
  double pair_step = 1;  ///< of two variables, for each variable that is scanned for the next
  double sparse_pair_step = 1000;  ///< with rows of which most values are left out
  double single_step = 0.5;        ///< of one variable, for each variable that is scanned

  // Dense systems of n variables: n^2 and n^3 times.
  double assemble = 3;
  double factor = 0.02;

  /// A Newton step on n free variables.
  constexpr double newton(std::size_t n) const {
    const auto size = static_cast<double>(n);
    return size * size * (assemble + factor * size);
  }
};

inline constexpr CostModel costs{};

}  // namespace maxmargin
