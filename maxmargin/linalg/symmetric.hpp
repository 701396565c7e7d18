#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/threads.hpp"
#include "maxmargin/linalg/serial_blas.hpp"

namespace maxmargin {

/// A symmetric matrix of doubles by its lower triangle, row by row. Pages above the diagonal are
/// never touched, so that it takes about 4 n^2 bytes of memory.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size = 0)
      : size_(size), stride_(size), values_(size * size) {}

  std::size_t size() const { return size_; }
  std::size_t stride() const { return stride_; }
  double* row(std::size_t i) { return values_.data() + i * stride_; }
  const double* row(std::size_t i) const { return values_.data() + i * stride_; }
  /// Uses the upper left corner only; no larger than it was made.
  void shrink_to(std::size_t size) { size_ = size; }

  static std::size_t bytes(std::size_t size);

  /// y = M x
  void multiply(std::span<const double> x, std::span<double> y, const Threads& threads) const;

 private:
  std::size_t size_;
  std::size_t stride_;
  Buffer<double> values_;
};

/// Asked now and then during long work whether to go on.
using GoOn = std::function<bool()>;

/// The factors of a symmetric matrix, computed in place: L L' (Cholesky) where the matrix is
/// positive definite, else U D U' with pivots (Bunch and Kaufman). The same bits for any number of
/// threads.
class Factor {
 public:
  enum class Kind { none, cholesky, bunch_kaufman };

  /// Room for matrices of up to this size.
  explicit Factor(std::size_t size = 0) : matrix_(size) {}

  /// Where the matrix is put before factor() is called; only the lower triangle counts.
  SymmetricMatrix& matrix() { return matrix_; }

  /// False: no positive definite matrix, its content is lost. `stopped` when go_on said no.
  enum class Outcome { done, broke_down, stopped };
  [[nodiscard]] Outcome cholesky(const Threads& threads, const GoOn& go_on = {});
  /// One thread. Breaks down only when a pivot is exactly zero.
  [[nodiscard]] Outcome bunch_kaufman();
  /// Cholesky factors of what `fill` puts into matrix(), which is positive definite but for its
  /// rounding: with the first of a few growing ridges on the diagonal that makes it so. False where
  /// an entry is not finite.
  [[nodiscard]] bool cholesky_with_ridge(const std::function<void()>& fill, const Threads& threads);
  /// The same for a matrix of the data itself: an Error where an entry is not finite.
  void require_cholesky(const std::function<void()>& fill, const Threads& threads);

  Kind kind() const { return kind_; }

  /// Solves M X = B in place for `count` right-hand sides, one after another in `b`. There have to
  /// be factors.
  void solve(double* b, std::size_t count, const Threads& threads) const;

 private:
  void solve_cholesky(double* b, std::size_t count, const Threads& threads) const;

  SymmetricMatrix matrix_;
  Kind kind_ = Kind::none;
  std::vector<int> pivots_;
  SerialBlas serial_;
};

/// Solves M x = b for a small symmetric matrix given in full, in the sense of least squares and
/// least norm where it is singular: eigenvalues below `cutoff` times the largest count as zero.
void solve_small(std::vector<double> M, std::span<double> b, double cutoff = 1e-13);

}  // namespace maxmargin
