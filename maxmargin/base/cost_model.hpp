#pragma once

#include <cstddef>

namespace maxmargin {

/// Nanoseconds of an operation on `terms`: some for itself, and for each of these.
struct LinearCost {
  double fixed, each;
  constexpr double of(double terms) const { return fixed + each * terms; }
};

/// What operations take on one core, in nanoseconds: what decides between two ways of doing the
/// same. `bench/costs` measures each of these and prints it beside what is assumed here. Only their
/// rough proportions count; no choice is made by the clock, so that the same input takes the same
/// path on every machine. The context hands it down: who asks for another choice, as a test does,
/// hands in other costs.
struct CostModel {
  // A kernel value, by how its engine sums. Terms are the features of a row, or its non-zeros
  // where it is a list; with vectors of 512 bits.
  LinearCost binary_product{0.1, 0.006};  ///< of binary rows, within a product with a vector
  LinearCost binary{0.2, 0.012};          ///< of binary rows
  LinearCost fused{0.22, 0.012};          ///< of few features, by products
  LinearCost listed_quads{0.6, 0.012};    ///< of whole numbers in eight bits
  LinearCost listed_pairs{0.6, 0.022};    ///< of whole numbers in sixteen bits
  LinearCost dense_pairs{0.6, 0.015};
  LinearCost listed{0.4, 0.04};  ///< of floats; of doubles twice as much for each
  LinearCost dense{0.4, 0.015};
  double sum_in_double = 0.6;          ///< in the place of 0.4, where floats are summed in double
  LinearCost differences{2, 0.5};      ///< of features, in double
  LinearCost plain{0, 0.1};            ///< one by one from the rows as they are stored
  double own_function = 100;           ///< a kernel that a user wrote
  double stored_value = 1;             ///< of a matrix that was given
  LinearCost low_rank{0, 0.1};         ///< of Z Z', for each column
  double left_out_value = 0.1;         ///< one that is known to be negligible
  double second_sum = 0.4;             ///< of a value that is used for both of its rows
  double fused_second_sum = 1.1;       ///< the same where values are fused: times a value's own
  double listed_feature_in_cache = 3;  ///< of a row alone; cycles, as the next two
  double listed_feature = 10;          ///< the same from further away
  double grouped_feature = 2.8;        ///< of rows in groups, for each of them

  // What is done with a value, against what computing one takes.
  double touch_value = 1.5;      ///< a float of fresh memory; cheaper values are not worth caching
  double read_value = 0.5;       ///< a float of a long cached row
  double pick_value = 3;         ///< one out of many long rows
  double pick_cached_value = 1;  ///< one out of `cached_values`, rows in a cache
  std::size_t cached_values = std::size_t{1} << 20;
  double copy_value = 1;   ///< across the diagonal of a small matrix
  double allot_value = 6;  ///< a float of a store that several matrices share

  // Sizes below which what a way saves is less than what it takes to begin with it.
  std::size_t least_half_product = 1024;  ///< points of a matrix each value of which is used twice
  std::size_t least_far_rows = 128;       ///< rows of which most may be far from each other

  // Steps of solvers.
  double pair_step = 1;  ///< of two variables, for each variable that is scanned for the next
  double sparse_pair_step = 1000;  ///< with rows of which most values are left out
  double single_step = 0.5;        ///< of one variable, for each variable that is scanned

  // Dense systems of n variables: n^2 and n^3 times.
  double assemble = 3;
  double factor = 0.02;

  /// A Newton step on n free variables, or one on the path of interior points for n points.
  constexpr double newton(std::size_t n) const {
    const auto size = static_cast<double>(n);
    return size * size * (assemble + factor * size);
  }

  // Systems of n columns in the place of a matrix over m points: m n (n + columns_beside) times,
  // where the latter stands for what is no arithmetic.
  double column_system = 2.5 / 30;
  double columns_beside = 300;
  double make_columns = 0.25;  ///< m n^2 times, with all that is done before a system is solved
  /// Pairs from the start to the end, of losses that leave most variables free: for each entry of
  /// K.
  double pairs_of_free_variables = 10;

  constexpr double low_rank_system(std::size_t m, std::size_t n) const {
    const auto points = static_cast<double>(m), columns = static_cast<double>(n);
    return column_system * points * columns * (columns + columns_beside);
  }
};

}  // namespace maxmargin
