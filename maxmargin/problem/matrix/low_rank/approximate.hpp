#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"

namespace maxmargin {

/// How the basis functions k(x_j, .) are chosen in whose span all others are approximated.
enum class Selection {
  sgma,    ///< the best of some candidates drawn at random (algorithm 10.1)
  random,  ///< at random
  pivoted  ///< where the error is largest: Cholesky with pivots
};
std::optional<Selection> selection_named(std::string_view name);
std::string_view to_string(Selection selection);

/// Ends at the rank, or when the residual trace has fallen to this share of the trace, whichever is
/// first; 0: no such limit. With neither, at a residual of 1e-3.
struct Approximate {
  Selection selection = Selection::sgma;
  std::size_t rank = 0;
  double residual = 0;
  /// Drawn for each basis function: the best of 59 is with 95 % confidence among the best 5 %.
  std::size_t candidates = 59;
  std::uint64_t seed = 0;
};

/// K~ = K_mn K_nn^-1 K_nm = Z Z' in Cholesky form (problems 10.5 and 10.6): Z = K_mn T'^-1 with
/// T T' = K_nn, and T is the rows of Z at the basis points. m n numbers are stored.
struct Approximated {
  std::shared_ptr<const LowRank> Z;
  std::vector<Index> basis;      ///< points, in the order in which they were chosen
  std::vector<double> residual;  ///< tr(K - K~) after each of them, (10.31)
  double trace = 0;              ///< of K
  bool stopped = false;          ///< go_on returned false; the basis so far is valid

  /// Coefficients of the basis functions of f = sum_i beta_i k~_i: T'^-1 Z'beta.
  std::vector<double> basis_coefficients(std::span<const double> beta,
                                         const Threads& threads) const;
  /// The basis functions that come nearest to given values at the points, in the sum of squares
  /// (problem 10.4): (K_nm K_mn)^-1 K_nm values. O(m n^2), where the expansion above is O(m n). For
  /// values that are the k(x_i, .) of a point it is the best expansion of that function in the
  /// space of function values, not in that of the kernel.
  std::vector<double> fitted(std::span<const double> values, const Threads& threads) const;
  /// The same from w = Z'beta.
  std::vector<double> combined(std::vector<double> w) const;
};

/// O(m n^2) operations, 59 times that for sgma; O(m n) kernel values, 59 times that for sgma. The
/// same bits for any number of threads. Throws Error when K is not positive semi-definite.
Approximated approximate(const Quadratic& K, const Approximate& options, const Threads& threads,
                         const GoOn& go_on = {});

/// A basis to extend, and the residual of a function g that should be approximated better: its
/// values minus those of its projection, at the points.
struct Grow {
  std::span<const Index> basis;
  std::span<const double> rest;
};

/// Matching pursuit in feature space: extends a basis, each time by the function that reduces the
/// residual of g most, by rest^2 / error at its point. options.selection is ignored.
Approximated extend(const Quadratic& K, const Grow& grow, const Approximate& options,
                    const Threads& threads, const GoOn& go_on = {});

/// How many basis functions leave `residual` of K's trace, by pivoted Cholesky of a sample of the
/// points, and of half of it, from which its growth with the points is extrapolated. Nothing where
/// the sample needs more than half of its points, and so tells nothing about the rest.
std::optional<std::size_t> estimated_rank(const Quadratic& K, double residual,
                                          const Threads& threads);

/// For comparisons: tr(K - K~) of the best K~ of each rank up to `rank`, the sums of the
/// eigenvalues that are left out (problem 10.7). Needs all of K in memory.
std::vector<double> principal_residuals(const Quadratic& K, std::size_t rank,
                                        const Threads& threads);

}  // namespace maxmargin
