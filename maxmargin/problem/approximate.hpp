#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/low_rank.hpp"

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
/// T T' = K_nn, and T is the rows of Z at the basis points. m n numbers are stored, and nothing
/// else.
struct Approximated {
  std::shared_ptr<const LowRank> Z;
  std::vector<Index> basis;      ///< points, in the order in which they were chosen
  std::vector<double> residual;  ///< tr(K - K~) after each of them, (10.31)
  double trace = 0;              ///< of K
  bool stopped = false;          ///< go_on said no; what there is can be used

  /// Coefficients of the basis functions of f = sum_i beta_i k~_i: T'^-1 Z'beta.
  std::vector<double> basis_coefficients(std::span<const double> beta,
                                         const Threads& threads) const;
};

/// O(m n^2) operations, 59 times that for sgma; O(m n) kernel values, 59 times that for sgma. The
/// same bits for any number of threads. Throws Error when K is not positive semi-definite.
Approximated approximate(const Quadratic& K, const Approximate& options, const Threads& threads,
                         const GoOn& go_on = {});

/// The yardstick: tr(K - K~) of the best K~ of each rank up to `rank`, the sums of the eigenvalues
/// that are left out (problem 10.7). Needs all of K in memory; for comparisons.
std::vector<double> principal_residuals(const Quadratic& K, std::size_t rank,
                                        const Threads& threads);

}  // namespace maxmargin
