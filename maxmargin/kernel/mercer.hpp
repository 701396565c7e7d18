#pragma once

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/kernel/kernels.hpp"

namespace maxmargin {

/// Whether the Gram matrix K of these rows is positive semi-definite (K2). The test is of
/// D^-1/2 K D^-1/2, D being the diagonal of K, so that large entries do not hide small ones.
struct Mercer {
  std::size_t rows = 0;    ///< there are
  std::size_t sample = 0;  ///< of these that were tested
  double smallest = 0;     ///< eigenvalues of the scaled matrix, of at most `eigenvalue_rows` rows
  double largest = 0;
  double negative_share = 0;  ///< sum of |negative eigenvalues| / sum of all |eigenvalues|
  /// smallest >= -tolerance, by a factorisation of all of the sample. Where it does not hold for a
  /// sample it holds for no more rows either.
  bool holds = false;

  bool is_sampled() const { return sample < rows; }
};

/// Given matrices up to this size are tested completely, and up to which there are eigenvalues: a
/// part of what is found, and so the same in every run.
inline constexpr std::size_t mercer_rows = CostModel{}.mercer.rows;
inline constexpr std::size_t eigenvalue_rows = CostModel{}.mercer.eigenvalue_rows;

/// What rounding makes of the eigenvalues of a scaled matrix of so many rows.
double mercer_tolerance(std::size_t rows);

/// Tests at most `most_rows` rows, chosen at random where there are more.
Mercer mercer_check(const Kernel& kernel, const Rows& rows, std::size_t most_rows,
                    std::uint64_t seed, const Threads& threads);

/// The same without eigenvalues of at most `eigenvalue_rows` rows, whose factors alone take less
/// time than loading the library that finds eigenvalues.
Mercer mercer_holds(const Kernel& kernel, const Rows& rows, std::size_t most_rows,
                    std::uint64_t seed, const Threads& threads);

/// Of a matrix given as rows, the entry that differs most from the one across the diagonal: by
/// `difference` times its own size and that of its diagonal entries, |K_ij| + sqrt(K_ii K_jj).
struct Asymmetry {
  double difference = 0;
  Index row = 0, column = 0;

  /// Matrices written with 7 digits may differ in the last.
  bool is_serious() const { return difference > 1e-6; }
};
Asymmetry asymmetry_of(const Rows& matrix, const Threads& threads);

}  // namespace maxmargin
