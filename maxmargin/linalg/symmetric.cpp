#include "maxmargin/linalg/symmetric.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <utility>

#include "maxmargin/base/error.hpp"
#include "maxmargin/linalg/blas.hpp"

namespace maxmargin {
namespace {

// A tile of 256 x 256 doubles: large enough for OpenBLAS to run near its peak,
// small enough to share the work out among many threads.
constexpr std::size_t tile = 256;
// Neighbouring tiles of a row are updated at once, and a triangular system is
// solved in pieces with products between them: OpenBLAS packs less, and runs
// faster.
constexpr std::size_t tiles_at_once = 4;
constexpr std::size_t triangle = 64;
// A product is summed in this many parts whatever the number of threads.
constexpr std::size_t strips = 16;

std::size_t tile_count(std::size_t n) { return (n + tile - 1) / tile; }

/// X = X L'^-1 for a tile X of some rows and a lower triangle L.
void solve_tile(const double* L, double* X, int rows, int columns, int stride) {
  for (int begin = 0; begin < columns; begin += as_int(triangle)) {
    const int width = std::min(as_int(triangle), columns - begin);
    const double* row = L + static_cast<std::ptrdiff_t>(begin) * stride;
    if (begin > 0)
      blas().cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, width, begin, -1, X, stride,
                         row, stride, 1, X + begin, stride);
    blas().cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, width,
                       1, row + begin, stride, X + begin, stride);
  }
}

}  // namespace

std::size_t SymmetricMatrix::bytes(std::size_t size) {
  // Half of the square, and on the diagonal of each row half a page that is
  // touched for nothing.
  return size * (size + 1) / 2 * sizeof(double) + size * 2048;
}

void SymmetricMatrix::multiply(std::span<const double> x, std::span<double> y,
                               const Threads& threads) const {
  const SerialBlas serial;
  const std::size_t n = size_, tiles = tile_count(n);
  const int stride = as_int(stride_);
  const std::size_t parts = std::min(strips, tiles);
  std::vector<double> partial(parts * n, 0.0);
  // Part s takes the rows of tiles s, s + parts, ...: about the same work each.
  threads.run(parts, [&](std::size_t s) {
    double* sum = partial.data() + s * n;
    for (std::size_t i = s; i < tiles; i += parts) {
      const std::size_t row_begin = i * tile, rows = std::min(tile, n - row_begin);
      for (std::size_t j = 0; j < i; ++j) {
        const double* block = row(row_begin) + j * tile;
        blas().cblas_dgemv(CblasRowMajor, CblasNoTrans, as_int(rows), as_int(tile), 1, block,
                           stride, x.data() + j * tile, 1, 1, sum + row_begin, 1);
        blas().cblas_dgemv(CblasRowMajor, CblasTrans, as_int(rows), as_int(tile), 1, block, stride,
                           x.data() + row_begin, 1, 1, sum + j * tile, 1);
      }
      blas().cblas_dsymv(CblasRowMajor, CblasLower, as_int(rows), 1, row(row_begin) + row_begin,
                         stride, x.data() + row_begin, 1, 1, sum + row_begin, 1);
    }
  });
  std::copy_n(partial.begin(), n, y.begin());
  for (std::size_t s = 1; s < parts; ++s)
    for (std::size_t i = 0; i < n; ++i) y[i] += partial[s * n + i];
}

Factor::Outcome Factor::cholesky(const Threads& threads, const GoOn& go_on) {
  const std::size_t n = matrix_.size(), tiles = tile_count(n);
  kind_ = Kind::none;
  const auto at = [&](std::size_t i, std::size_t j) { return matrix_.row(i * tile) + j * tile; };
  const auto extent = [&](std::size_t i) { return as_int(std::min(tile, n - i * tile)); };
  const int stride = as_int(matrix_.stride());
  for (std::size_t k = 0; k < tiles; ++k) {
    if (go_on && !go_on()) return Outcome::stopped;
    // Rows from below are columns from above: L by rows is U by columns.
    if (potrf('U', extent(k), at(k, k), stride) != 0) return Outcome::broke_down;
    threads.run(tiles - k - 1, [&](std::size_t task) {
      const std::size_t i = k + 1 + task;
      solve_tile(at(k, k), at(i, k), extent(i), extent(k), stride);
    });
    // From the longest rows to the shortest, so that no thread is left with
    // much at the end.
    std::vector<std::pair<std::size_t, std::size_t>> strips_left;
    for (std::size_t i = tiles; i-- > k + 1;)
      for (std::size_t j = k + 1; j <= i; j += tiles_at_once) strips_left.emplace_back(i, j);
    threads.run(strips_left.size(), [&](std::size_t task) {
      const auto& [i, begin] = strips_left[task];
      const std::size_t end = std::min(i, begin + tiles_at_once);
      if (end > begin)
        blas().cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, extent(i),
                           as_int((end - begin) * tile), extent(k), -1, at(i, k), stride,
                           at(begin, k), stride, 1, at(i, begin), stride);
      if (begin + tiles_at_once > i)
        blas().cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, extent(i), extent(k), -1,
                           at(i, k), stride, 1, at(i, i), stride);
    });
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(matrix_.row(i)[i])) return Outcome::broke_down;
  kind_ = Kind::cholesky;
  return Outcome::done;
}

bool Factor::cholesky_with_ridge(const std::function<void()>& fill, const Threads& threads) {
  constexpr double first = 1e-15, growth = 100;
  fill();
  double largest = 0;
  for (std::size_t i = 0; i < matrix_.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      if (!std::isfinite(matrix_.row(i)[j])) return false;
      if (j == i) largest = std::max(largest, matrix_.row(i)[i]);
    }
  double ridge = first * (largest > 0 ? largest : 1);
  while (cholesky(threads) != Outcome::done) {
    fill();
    for (std::size_t i = 0; i < matrix_.size(); ++i) matrix_.row(i)[i] += ridge;
    if (!std::isfinite(ridge *= growth)) return false;
  }
  return true;
}

void Factor::require_cholesky(const std::function<void()>& fill, const Threads& threads) {
  if (!cholesky_with_ridge(fill, threads))
    throw Error(Fault::data, "sums of products of the features and the costs overflow",
                "scale the features, or take a smaller cost");
}

Factor::Outcome Factor::bunch_kaufman() {
  const int n = as_int(matrix_.size());
  pivots_.resize(matrix_.size());
  const int info = sytrf('U', n, matrix_.row(0), as_int(matrix_.stride()), pivots_.data());
  kind_ = info == 0 ? Kind::bunch_kaufman : Kind::none;
  return info == 0 ? Outcome::done : Outcome::broke_down;
}

void Factor::solve_cholesky(double* b, std::size_t count, const Threads& threads) const {
  const std::size_t n = matrix_.size(), tiles = tile_count(n);
  const int stride = as_int(matrix_.stride()), length = as_int(n), many = as_int(count);
  const auto at = [&](std::size_t i, std::size_t j) { return matrix_.row(i * tile) + j * tile; };
  const auto extent = [&](std::size_t i) { return as_int(std::min(tile, n - i * tile)); };
  // target -= op(block) source, for every right-hand side.
  const auto subtract = [&](CBLAS_TRANSPOSE op, std::size_t i, std::size_t j, std::size_t source,
                            std::size_t target) {
    if (count == 1)
      blas().cblas_dgemv(CblasRowMajor, op, extent(i), extent(j), -1, at(i, j), stride,
                         b + source * tile, 1, 1, b + target * tile, 1);
    else
      blas().cblas_dgemm(CblasColMajor, op == CblasNoTrans ? CblasTrans : CblasNoTrans,
                         CblasNoTrans, extent(target), many, extent(source), -1, at(i, j), stride,
                         b + source * tile, length, 1, b + target * tile, length);
  };
  for (std::size_t k = 0; k < tiles; ++k) {
    blas().cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, extent(k),
                       many, 1, at(k, k), stride, b + k * tile, length);
    threads.run(tiles - k - 1, [&](std::size_t task) {
      subtract(CblasNoTrans, k + 1 + task, k, k, k + 1 + task);
    });
  }
  for (std::size_t k = tiles; k-- > 0;) {
    blas().cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, extent(k),
                       many, 1, at(k, k), stride, b + k * tile, length);
    threads.run(k, [&](std::size_t j) { subtract(CblasTrans, k, j, k, j); });
  }
}

void Factor::solve(double* b, std::size_t count, const Threads& threads) const {
  if (count == 0 || matrix_.size() == 0) return;
  assert(kind_ != Kind::none);
  if (kind_ == Kind::cholesky) return solve_cholesky(b, count, threads);
  const int n = as_int(matrix_.size());
  sytrs('U', n, as_int(count), matrix_.row(0), as_int(matrix_.stride()), pivots_.data(), b, n);
}

namespace {

/// Eigenvalues, increasing, and the eigenvectors in place of M, one a row; false if there are none.
/// Those of up to two rows by hand: it is not worth loading OpenBLAS for them.
bool eigenvectors(std::vector<double>& M, std::vector<double>& values) {
  const std::size_t n = values.size();
  if (n == 1) {
    values[0] = std::exchange(M[0], 1.0);
  } else if (n == 2) {
    const double angle = std::atan2(2 * M[1], M[0] - M[3]) / 2;
    const double c = std::cos(angle), s = std::sin(angle), cross = 2 * M[1] * c * s;
    values = {M[0] * s * s - cross + M[3] * c * c, M[0] * c * c + cross + M[3] * s * s};
    M = {-s, c, c, s};
  } else {
    const SerialBlas serial;
    return syev('U', as_int(n), M.data(), as_int(n), values.data()) == 0;
  }
  return std::isfinite(values.front()) && std::isfinite(values.back());
}

}  // namespace

void solve_small(std::vector<double> M, std::span<double> b, double cutoff) {
  const std::size_t n = b.size();
  if (n == 0) return;
  std::vector<double> values(n), turned(n, 0.0);
  if (!eigenvectors(M, values)) {
    std::fill(b.begin(), b.end(), 0.0);
    return;
  }
  const double largest = std::max(std::abs(values.front()), std::abs(values.back()));
  for (std::size_t e = 0; e < n; ++e) {
    if (std::abs(values[e]) <= cutoff * largest) continue;
    for (std::size_t i = 0; i < n; ++i) turned[e] += M[e * n + i] * b[i] / values[e];
  }
  std::fill(b.begin(), b.end(), 0.0);
  for (std::size_t e = 0; e < n; ++e)
    for (std::size_t i = 0; i < n; ++i) b[i] += M[e * n + i] * turned[e];
}

}  // namespace maxmargin
