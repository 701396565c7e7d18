#pragma once

#include <cstddef>

namespace maxmargin {

/// Nanoseconds of an operation on `terms`: some for itself, and for each of these.
struct LinearCost {
  double fixed, each;
  constexpr double of(double terms) const { return fixed + each * terms; }
};

// Where a choice is not made by comparing costs, the size or the share from which on one of two
// ways was measured to be faster: each with its unit, and with the bench that measures it.

/// Choosing a solver (bench/solvers, docs/solvers.md).
struct SolverChoice {
  // A tolerance; numbers of points.
  double tight_precision = 1e-5;  ///< below, Newton steps cost less than many small ones
  std::size_t few_points = 500;   ///< full rank: a factorisation costs less than many small steps
  std::size_t few_points_of_one_system = 3000;  ///< the same where one system is factored
  // Low rank: path following takes time in proportion to the points, and moves all variables at
  // once. From so many points on it is faster than pairs for squared losses, and faster than single
  // variables for losses with corners.
  std::size_t some_points = 1000;
  std::size_t many_points = 10000;
  std::size_t many_points_a_column = 200;  ///< of K = Z Z', at least
  /// K = Z Z' is worth its own way of solving from so many points for each column on: with fewer,
  /// the products that make its Gram matrix cost more than the factors of the whole. The same in
  /// every run: solvers refuse by it, whoever asks.
  std::size_t least_points_a_column = 3;

  // Systems of equations that are expected, for limits of time: of path following, and of Newton's
  // method on the primal where few digits are asked for.
  double path_iterations = 30;
  double newton_iterations = 12;
  /// Seconds that another solver may be expected to take where the one that was chosen has stalled.
  double most_seconds_after_a_stall = 10;

  // Low-rank columns in place of a full matrix: how often a system is solved on a path and where
  // nothing is bounded; products with K for corrections.
  double uses_on_a_path = 12;
  double uses_without_bounds = 2;
  double products = 3;

  // Low rank and losses with corners: pairs compute a kernel row per support vector, a path some
  // thirty systems of all columns whatever the data. The number of support vectors is estimated by
  // a pilot machine of some of the points, where there are enough and kernel values are not cheap.
  std::size_t points_of_pilot = 2000;
  std::size_t least_points_of_pilot = 20000;
  double least_value_of_pilot = 5;  ///< nanoseconds of a kernel value
};

/// Summing kernel values (bench/costs; bench/peers where it does not say so).
struct EngineChoice {
  std::size_t packing_factor = 24;  ///< packed columns are so many times the stored bytes at most,
  std::size_t small_panels = std::size_t{64} << 20;  ///< or have no more bytes than these
  std::size_t most_differences = 32;  ///< features up to which differences cost as products do
  double dense_from = 0.4;            ///< share of non-zeros from which lists are slower
  std::size_t cached_features = 128;  ///< of a panel that stays in L1: see listed_feature_in_cache
  double most_near = 0.5;             ///< share of near pairs up to which tests for far ones pay
  double most_near_stored = 0.25;     ///< the same, up to which rows are stored without the others
  std::size_t least_far_rows = 128;   ///< of which it is asked whether most are far apart
  std::size_t most_features_of_a_box = 512;  ///< with more, boxes around rows tell nothing
  // Points of a symmetric matrix whose values are computed once for both of their rows in a
  // product: fewer are not worth the sums of their own that each group has, and more take too much
  // memory for these.
  std::size_t least_halved = 1024;
  std::size_t most_halved = 1000000;
  std::size_t most_stretches = 8;  ///< of neighbours, that share packed rows; more are copied
};

/// SMO: pairs and sets of variables (bench/peers, bench/solvers).
struct PairChoice {
  // A start from the solution of a sample of the points.
  std::size_t cascade_from = 4000;  ///< points of the whole
  std::size_t least_part = 300;     ///< points of a sample
  // Shares of free support vectors of a sample: above the first its solution is not used, above the
  // second no start is made.
  double usable_share = 0.5;
  double hopeless_share = 0.75;

  std::size_t most_sparse_steps = 8;  ///< for each variable, before sets: rows are mostly zero
  std::size_t rows_taken_again = 5;   ///< sets, for each cached row, before pairs of cached rows
  double most_remaining = 0.7;        ///< share of variables, to which it pays to shrink
  double newton_share = 0.2;          ///< of the work so far, that Newton's steps may take
  std::size_t most_plain = 64;        ///< free variables, up to which OpenBLAS takes longer to load
};

/// Single variables in working sets, with equality rows (bench/solvers).
struct SingleChoice {
  int sets_before_newton = 4;  ///< one at least
  double newton_share = 0.5;   ///< of the work so far, that Newton's steps may take
};

/// Simplices of the classes of an example (bench/papers/restarts).
struct SimplexChoice {
  // Examples: of the set among which all kernel values are known, and that come into it at once.
  std::size_t least_examples = 256;
  std::size_t most_examples = 4096;
  std::size_t fresh_examples = 1024;
  std::size_t working_set = 256;     ///< of these, that are solved at a time
  std::size_t visits_to_newton = 4;  ///< steps for each example before one of Newton's
  std::size_t most_free = 1024;      ///< classes of examples in a system of Newton's
  double newton_share = 12;          ///< multiplications for each of those of the other steps
};

/// Solving a problem again after a change (bench/papers/restarts): a part is solved first, of the
/// free variables and so many others for each of them.
struct RestartChoice {
  double times_free = 2.5;
  std::size_t least_part = 64;      ///< variables, beside these
  std::size_t largest_part = 1024;  ///< variables: their kernel values are all in memory
  double largest_share = 0.7;       ///< of the variables: larger parts save nothing
  double undecided_rows = 0.9;  ///< share of rows from which leaving the others out saves nothing
};

/// Following a solution while a variable goes (bench/papers/restarts): over the free variables and
/// those that are near to it.
struct UnlearnChoice {
  // Variables that are not free and may change sides: so many, and so many more for each free one.
  std::size_t least_near = 256;
  std::size_t near_for_free = 3;
  std::size_t most_exchanged = 64;  ///< variables on another side than in the tableau
};

/// The machines of a race (`maxmargin race`): with an approximated kernel from so many points on,
/// by a column for so many points, within bounds.
struct RaceChoice {
  std::size_t approximate_from = 500;  ///< points; fewer are trained exactly in no time
  std::size_t points_a_column = 20;
  std::size_t least_columns = 50;
  std::size_t most_columns = 1000;
};

/// Rows on disk: those near their corners are taken into memory, at least so many, or so many for
/// each feature, or one of so many. A row there costs as much as some hundred on disk in a pass
/// (bench/out-of-core).
struct StreamedChoice {
  std::size_t working_rows = 2000;
  std::size_t working_rows_a_feature = 64;
  std::size_t rows_a_working_row = 512;
};

/// Many machines of a few rows each (bench/libsvm, bench/peers).
struct SmallMachineChoice {
  std::size_t most_rows = 40;           ///< of a machine; there is no room for more than these
  std::size_t values_for_each_use = 2;  ///< of K that are computed for all, for each that is used
};

/// Whether a matrix is positive semi-definite (`maxmargin check`). The same in every run: who
/// verifies a model looks at the same rows again.
struct MercerChoice {
  std::size_t rows = 5000;             ///< up to which a given matrix is tested completely
  std::size_t eigenvalue_rows = 1000;  ///< up to which there are eigenvalues
};

/// Structured outputs (bench/structural).
struct StructuredChoice {
  std::size_t few_dimensions = 256;  ///< of w, up to which the vectors of planes are stored
  /// Labels whose 2^labels structures are tried, not relaxed. The same in every run: what an oracle
  /// finds depends on it.
  std::size_t most_enumerated = 16;
};

/// Certificates (bench/peers), and weights of linear models (bench/libsvm).
struct CertifyChoice {
  std::ptrdiff_t near_share = 4;  ///< non-zeros for each changed one: only the change is multiplied
  // Points at stake are judged by finer values on their own: of so many points, and where they are
  // no more than this part of them.
  std::size_t least_points = 512;
  std::size_t points_at_stake = 2;
  double most_extended_work = 3e10;  ///< operations of a product in long double: a minute or two
};
struct WeightChoice {
  double most_growth = 8;         ///< bytes of w for each of the model,
  double small_bytes = 64 << 20;  ///< or no more bytes than these
};

/// What operations take on one core, in nanoseconds, and the sizes beside which one way is faster:
/// what decides between two ways of doing the same. `bench/costs` lists each of these with what it
/// measures here, or with the bench that measures it. Only their rough proportions count; no choice
/// is made by the clock, so that the same input takes the same path on every machine. The context
/// hands it down: who asks for another choice, as a test does, hands in other costs.
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

  SolverChoice solvers;
  EngineChoice engines;
  PairChoice pairs;
  SingleChoice singles;
  SimplexChoice simplices;
  RestartChoice restarts;
  UnlearnChoice unlearning;
  RaceChoice races;
  StreamedChoice streamed;
  SmallMachineChoice small_machines;
  MercerChoice mercer;
  StructuredChoice structured;
  CertifyChoice certify;
  WeightChoice weights;

  /// Steps of this cost that some work is worth; any, where they cost nothing.
  static constexpr double steps_within(double worth, double cost, double most) {
    return cost > 0 && worth < most * cost ? worth / cost : most;
  }

  constexpr double low_rank_system(std::size_t m, std::size_t n) const {
    const auto points = static_cast<double>(m), columns = static_cast<double>(n);
    return column_system * points * columns * (columns + columns_beside);
  }
};

}  // namespace maxmargin
