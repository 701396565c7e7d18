#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/linalg/serial_blas.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

// Points per partial sum, for the same bits whatever the number of threads.
constexpr std::size_t points_per_part = 2048;
constexpr std::size_t most_row_parts = 16;
// Rows that are weighted and multiplied at once: they stay in L2.
constexpr std::size_t factor_rows_at_once = 128;
// Edge of the pieces of a large Gram matrix that threads share.
constexpr std::size_t piece = 256;

class LowRankQuadratic final : public Quadratic, Factored {
 public:
  LowRankQuadratic(std::shared_ptr<const LowRank> Z, LinearCost value)
      : Z_(std::move(Z)), value_(value) {
    diagonal_.resize(Z_->points());
    for (std::size_t i = 0; i < diagonal_.size(); ++i)
      for (std::size_t j = 0; j < Z_->rank(); ++j) diagonal_[i] += Z_->row(i)[j] * Z_->row(i)[j];
  }

  std::size_t size() const override { return Z_->points(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  MatrixTraits traits() const override {
    const double error = (static_cast<double>(Z_->rank()) + 4) * unit_roundoff;
    return {.definite = Definite::yes,
            .deviation = float_rounding,
            .fast_error = error,
            .exact_error = error,
            .value_cost = value_.of(static_cast<double>(Z_->rank())),
            .bytes = Z_->bytes(),
            .columns = Z_->rank()};
  }
  MatrixCapabilities can() const override {
    MatrixCapabilities own;
    own.factored = this;
    return own;
  }
  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const override {
    return Z_->rank() <= most_columns ? Z_ : nullptr;
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    threads.split(count, 512, [&](std::size_t from, std::size_t to) {
      std::vector<double> block(which.size() * (to - from));
      exact_block(which, begin + from, to - from, block.data(), to - from);
      for (std::size_t r = 0; r < which.size(); ++r)
        for (std::size_t c = from; c < to; ++c)
          out[r][c] = static_cast<float>(block[r * (to - from) + c - from]);
    });
  }

  // One product at a time: a value has the same bits whatever rows and columns come with it.
  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    const SerialBlas serial;
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c)
        out[r * stride + c] =
            blas().cblas_ddot(as_int(Z_->rank()), Z_->row(which[r]), 1, Z_->row(begin + c), 1);
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision,
                const Threads& threads) const override {
    Z_->spread(Z_->gather(x, threads), y, threads);
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return std::make_shared<LowRankQuadratic>(std::make_shared<const LowRank>(Z_->chosen(points)),
                                              value_);
  }

 private:
  std::shared_ptr<const LowRank> Z_;
  LinearCost value_;
  std::vector<double> diagonal_;
};

}  // namespace

std::vector<double> LowRank::gather(std::span<const double> x, const Threads& threads) const {
  const SerialBlas serial;
  const std::size_t parts = (points_ + points_per_part - 1) / points_per_part;
  std::vector<double> partial(parts * rank_, 0.0), w(rank_, 0.0);
  threads.run(rank_ > 0 ? parts : 0, [&](std::size_t part) {
    const std::size_t begin = part * points_per_part;
    const std::size_t count = std::min(points_per_part, points_ - begin);
    blas().cblas_dgemv(CblasRowMajor, CblasTrans, as_int(count), as_int(rank_), 1, row(begin),
                       as_int(rank_), x.data() + begin, 1, 0, partial.data() + part * rank_, 1);
  });
  for (std::size_t part = 0; part < parts; ++part)
    for (std::size_t j = 0; j < rank_; ++j) w[j] += partial[part * rank_ + j];
  return w;
}

void LowRank::spread(std::span<const double> w, std::span<double> y, const Threads& threads) const {
  const SerialBlas serial;
  std::fill(y.begin(), y.end(), 0.0);
  if (rank_ == 0) return;
  threads.split(points_, points_per_part, [&](std::size_t begin, std::size_t end) {
    blas().cblas_dgemv(CblasRowMajor, CblasNoTrans, as_int(end - begin), as_int(rank_), 1,
                       row(begin), as_int(rank_), w.data(), 1, 0, y.data() + begin, 1);
  });
}

std::vector<double> LowRank::gram(std::span<const Index> which, std::span<const double> weight,
                                  const Threads& threads) const {
  const SerialBlas serial;
  // Small matrices are summed in several parts, large ones in one and cut into pieces.
  const std::size_t pieces = (rank_ + piece - 1) / piece;
  const std::size_t parts = pieces > 1 ? 1 : most_row_parts;
  const std::size_t share = (which.size() + parts - 1) / parts;
  std::vector<double> sums(parts * rank_ * rank_, 0.0);
  const auto weighted = [&](std::size_t begin, std::size_t end, double* out) {
    for (std::size_t i = begin; i < end; ++i) {
      const double root = std::sqrt(weight[i]);
      const double* from = row(which[i]);
      for (std::size_t j = 0; j < rank_; ++j) *out++ = root * from[j];
    }
  };
  if (parts > 1) {
    threads.run(parts, [&](std::size_t part) {
      std::vector<double> block(factor_rows_at_once * rank_);
      const std::size_t last = std::min(which.size(), (part + 1) * share);
      for (std::size_t begin = part * share; begin < last; begin += factor_rows_at_once) {
        const std::size_t end = std::min(last, begin + factor_rows_at_once);
        weighted(begin, end, block.data());
        blas().cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, as_int(rank_),
                           as_int(end - begin), 1, block.data(), as_int(rank_), 1,
                           sums.data() + part * rank_ * rank_, as_int(rank_));
      }
    });
    for (std::size_t part = 1; part < parts; ++part)
      for (std::size_t k = 0; k < rank_ * rank_; ++k) sums[k] += sums[part * rank_ * rank_ + k];
    sums.resize(rank_ * rank_);
    return sums;
  }
  constexpr std::size_t batch = 2048;
  std::vector<double> block(std::min(batch, which.size()) * rank_);
  for (std::size_t begin = 0; begin < which.size(); begin += batch) {
    const std::size_t end = std::min(which.size(), begin + batch);
    threads.split(end - begin, factor_rows_at_once, [&](std::size_t from, std::size_t to) {
      weighted(begin + from, begin + to, block.data() + from * rank_);
    });
    threads.run(pieces * (pieces + 1) / 2, [&](std::size_t task) {
      std::size_t i = 0, j = task;
      while (j > i) j -= ++i;
      const auto extent = [&](std::size_t p) { return as_int(std::min(piece, rank_ - p * piece)); };
      blas().cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, extent(i), extent(j),
                         as_int(end - begin), 1, block.data() + i * piece, as_int(rank_),
                         block.data() + j * piece, as_int(rank_), 1,
                         sums.data() + i * piece * rank_ + j * piece, as_int(rank_));
    });
  }
  return sums;
}

LowRank LowRank::chosen(std::span<const Index> which) const {
  LowRank result(which.size(), rank_);
  for (std::size_t i = 0; i < which.size(); ++i) std::copy_n(row(which[i]), rank_, result.row(i));
  return result;
}

std::shared_ptr<const Quadratic> make_low_rank_quadratic(std::shared_ptr<const LowRank> Z,
                                                         const CostModel& costs) {
  return std::make_shared<LowRankQuadratic>(std::move(Z), costs.low_rank);
}

}  // namespace maxmargin
