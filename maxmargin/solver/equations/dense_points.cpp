#include <algorithm>
#include <numeric>

#include "maxmargin/solver/equations/point_matrix.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t rows_per_task = 32;

class DensePoints final : public PointMatrix {
 public:
  DensePoints(std::size_t size, const Threads& threads)
      : threads_(threads), K_(size), factor_(size) {}

  /// Computes K; false when go_on said no.
  bool fill(const Quadratic& K, const GoOn& go_on) {
    std::vector<Index> all(size());
    std::iota(all.begin(), all.end(), Index{0});
    // A round of rows between two questions whether to go on.
    const std::size_t round = rows_per_task * 16;
    for (std::size_t from = 0; from < size(); from += round) {
      if (go_on && !go_on()) return false;
      const std::size_t rows = std::min(round, size() - from);
      threads_.split(rows, rows_per_task, [&](std::size_t begin, std::size_t end) {
        const std::size_t first = from + begin, last = from + end;
        K.exact_block(std::span(all).subspan(first, last - first), 0, last, K_.row(first),
                      K_.stride());
      });
    }
    return true;
  }

  std::size_t size() const override { return K_.size(); }

  void multiply(std::span<const double> x, std::span<double> y) const override {
    K_.multiply(x, y, threads_);
  }

  Factor::Outcome factor(std::span<const Index> points, std::span<const double> shift,
                         const GoOn& go_on) override {
    collect(points, shift);
    Factor::Outcome outcome = factor_.cholesky(threads_, go_on);
    if (outcome == Factor::Outcome::broke_down) {
      collect(points, shift);
      outcome = factor_.bunch_kaufman();
    }
    return outcome;
  }

  void solve(double* b, std::size_t count) const override { factor_.solve(b, count, threads_); }

 private:
  /// The factor's matrix: K over the points, plus the shifts.
  void collect(std::span<const Index> points, std::span<const double> shift) {
    SymmetricMatrix& M = factor_.matrix();
    M.shrink_to(points.size());
    threads_.split(points.size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double* row = M.row(i);
        const double* from = K_.row(points[i]);
        // Points increase, so that only the lower triangle of K is read.
        for (std::size_t j = 0; j <= i; ++j) row[j] = from[points[j]];
        row[i] += shift[i];
      }
    });
  }

  const Threads& threads_;
  SymmetricMatrix K_;
  Factor factor_;
};

}  // namespace

std::unique_ptr<PointMatrix> make_dense_points(const Quadratic& K, const Threads& threads,
                                               const GoOn& go_on) {
  auto points = std::make_unique<DensePoints>(K.size(), threads);
  if (!points->fill(K, go_on)) return nullptr;
  return points;
}

std::size_t dense_points_bytes(std::size_t points) { return 2 * SymmetricMatrix::bytes(points); }

}  // namespace maxmargin
