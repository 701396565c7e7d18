#include <algorithm>
#include <numeric>

#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"
#include "maxmargin/solver/equations/point_matrix.hpp"

namespace maxmargin {
namespace {

// What the formula of Sherman, Morrison and Woodbury loses where shifts are small is won back by
// solving for the residual.
constexpr int refinements = 2;

/// K = Z Z', (10.54-55): (Z Z' + E)^-1 = E^-1 - E^-1 Z (1 + Z'E^-1 Z)^-1 Z'E^-1. Few points are
/// written out as a matrix of their own instead, which is as cheap and loses nothing.
class LowRankPoints final : public PointMatrix {
 public:
  LowRankPoints(std::shared_ptr<const LowRank> Z, const Threads& threads)
      : threads_(threads),
        Z_(std::move(Z)),
        few_(std::min(Z_->points(), 2 * Z_->rank() + 64)),
        factor_(std::max(few_, Z_->rank())),
        spread_(Z_->points()) {}

  std::size_t size() const override { return Z_->points(); }

  void multiply(std::span<const double> x, std::span<double> y) const override {
    Z_->spread(Z_->gather(x, threads_), y, threads_);
  }

  Factor::Outcome factor(std::span<const Index> points, std::span<const double> shift,
                         const GoOn& go_on) override {
    points_.assign(points.begin(), points.end());
    shift_.assign(shift.begin(), shift.end());
    written_out_ = points.size() <= few_;
    fill();
    Factor::Outcome outcome = factor_.cholesky(threads_, go_on);
    if (outcome == Factor::Outcome::broke_down) {
      fill();
      outcome = factor_.bunch_kaufman();
    }
    return outcome;
  }

  void solve(double* b, std::size_t count) const override {
    if (written_out_) return factor_.solve(b, count, threads_);
    const std::size_t n = points_.size();
    for (std::size_t c = 0; c < count; ++c) {
      const std::vector<double> right(b + c * n, b + (c + 1) * n);
      std::vector<double> x = inverted(right);
      for (int step = 0; step < refinements; ++step) {
        std::vector<double> rest = product(x);
        for (std::size_t i = 0; i < n; ++i) rest[i] = right[i] - rest[i] - shift_[i] * x[i];
        const std::vector<double> correction = inverted(rest);
        for (std::size_t i = 0; i < n; ++i) x[i] += correction[i];
      }
      std::copy(x.begin(), x.end(), b + c * n);
    }
  }

 private:
  void fill() {
    SymmetricMatrix& M = factor_.matrix();
    if (written_out_) {
      const std::size_t n = points_.size();
      const auto K = make_low_rank_quadratic(std::make_shared<const LowRank>(Z_->chosen(points_)));
      M.shrink_to(n);
      std::vector<Index> all(n);
      std::iota(all.begin(), all.end(), Index{0});
      threads_.split(n, 16, [&](std::size_t begin, std::size_t end) {
        K->exact_block(std::span(all).subspan(begin, end - begin), 0, end, M.row(begin),
                       M.stride());
      });
      for (std::size_t i = 0; i < n; ++i) M.row(i)[i] += shift_[i];
      return;
    }
    std::vector<double> weight(shift_.size());
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = 1 / shift_[i];
    const std::vector<double> gram = Z_->gram(points_, weight, threads_);
    const std::size_t rank = Z_->rank();
    M.shrink_to(rank);
    for (std::size_t i = 0; i < rank; ++i) {
      std::copy_n(gram.data() + i * rank, i + 1, M.row(i));
      M.row(i)[i] += 1;
    }
  }

  /// Z' of a vector over the points that are in play.
  std::vector<double> gathered(std::span<const double> x) const {
    std::fill(spread_.begin(), spread_.end(), 0.0);
    for (std::size_t i = 0; i < points_.size(); ++i) spread_[points_[i]] = x[i];
    return Z_->gather(spread_, threads_);
  }
  std::vector<double> scattered(std::span<const double> w) const {
    Z_->spread(w, spread_, threads_);
    std::vector<double> y(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i) y[i] = spread_[points_[i]];
    return y;
  }
  std::vector<double> product(std::span<const double> x) const { return scattered(gathered(x)); }

  std::vector<double> inverted(std::span<const double> b) const {
    std::vector<double> x(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) x[i] = b[i] / shift_[i];
    std::vector<double> w = gathered(x);
    factor_.solve(w.data(), 1, threads_);
    const std::vector<double> back = scattered(w);
    for (std::size_t i = 0; i < b.size(); ++i) x[i] = (b[i] - back[i]) / shift_[i];
    return x;
  }

  const Threads& threads_;
  std::shared_ptr<const LowRank> Z_;
  std::size_t few_;
  Factor factor_;
  std::vector<Index> points_;
  std::vector<double> shift_;
  bool written_out_ = false;
  mutable std::vector<double> spread_;  ///< over all points
};

}  // namespace

std::unique_ptr<PointMatrix> make_low_rank_points(std::shared_ptr<const LowRank> Z,
                                                  const Threads& threads) {
  return std::make_unique<LowRankPoints>(std::move(Z), threads);
}

std::size_t low_rank_points_bytes(std::size_t points, std::size_t rank) {
  const std::size_t few = std::min(points, 2 * rank + 64);
  return points * rank * sizeof(double) + SymmetricMatrix::bytes(std::max(few, rank)) +
         few * rank * sizeof(double) + 3 * rank * rank * sizeof(double);
}

}  // namespace maxmargin
