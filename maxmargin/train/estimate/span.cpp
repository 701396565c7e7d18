#include "maxmargin/train/estimate/span.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/train/folds/retrain.hpp"

namespace maxmargin {
namespace {

/// The points with a free variable, and their bordered matrix.
class FreePoints {
 public:
  FreePoints(const DualQp& qp, std::span<const double> a, bool bordered, const Threads& threads)
      : bordered_(bordered), threads_(threads), position_(qp.K->size(), none) {
    std::vector<Index> bounded;
    std::vector<double> curvature;
    std::vector<bool> is_support(qp.K->size(), false);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      const Block& block = qp.block[v];
      if (a[v] == 0) continue;
      is_support[qp.row[v]] = true;
      if (a[v] <= block.lower || a[v] >= block.upper || position_[qp.row[v]] != none) continue;
      position_[qp.row[v]] = static_cast<Index>(points_.size());
      points_.push_back(qp.row[v]);
      curvature.push_back(block.curvature);
    }
    free_ = points_.size();
    for (std::size_t p = 0; p < is_support.size(); ++p)
      if (is_support[p] && position_[p] == none) {
        position_[p] = static_cast<Index>(points_.size());
        points_.push_back(static_cast<Index>(p));
      }
    K_ = qp.K->restrict_to(points_);
    curvature_ = std::move(curvature);
  }

  static std::size_t count_free(const DualQp& qp, std::span<const double> a) {
    std::size_t count = 0;
    for (std::size_t v = 0; v < qp.size(); ++v)
      count += a[v] > qp.block[v].lower && a[v] < qp.block[v].upper;
    return count;
  }

  /// S^2 of every support vector, in the order of position().
  std::vector<double> squared_spans() {
    std::vector<double> result(points_.size());
    if (free_ > 0) factor();
    std::vector<Index> which;
    std::vector<double> rows;
    for (std::size_t begin = 0; begin < points_.size(); begin += at_once) {
      const std::size_t end = std::min(points_.size(), begin + at_once);
      which.clear();
      for (std::size_t k = begin; k < end; ++k) which.push_back(static_cast<Index>(k));
      rows.assign(which.size() * free_, 0.0);
      for (std::size_t k = begin; k < end; ++k)
        if (k < free_) rows[(k - begin) * free_ + k] = 1;
      if (end > free_ && free_ > 0) bounded_rows(which, rows);
      const std::vector<double> given = rows;
      if (free_ > 0) solve(rows, which.size());
      for (std::size_t k = begin; k < end; ++k)
        result[k] = of(k, given.data() + (k - begin) * free_, rows.data() + (k - begin) * free_);
    }
    return result;
  }

  Index position(Index point) const { return position_[point]; }
  static constexpr Index none = 0xffffffffu;

 private:
  static constexpr std::size_t at_once = 64;  ///< rows of K

  /// K_pj for the points at their bounds among `which`.
  void bounded_rows(std::span<const Index> which, std::vector<double>& rows) const {
    for (std::size_t r = 0; r < which.size(); ++r)
      if (which[r] >= free_)
        K_->exact_block(which.subspan(r, 1), 0, free_, &rows[r * free_], free_);
  }

  void factor() {
    double ridge = 0;
    for (const double value : K_->diagonal()) ridge = std::max(ridge, 1e-13 * value);
    factor_.emplace(free_);
    factor_->require_cholesky(
        [&] {
          std::vector<Index> which(free_);
          std::iota(which.begin(), which.end(), Index{0});
          SymmetricMatrix& matrix = factor_->matrix();
          threads_.split(free_, at_once, [&](std::size_t begin, std::size_t end) {
            K_->exact_block(std::span(which).subspan(begin, end - begin), 0, end, matrix.row(begin),
                            matrix.stride());
            for (std::size_t k = begin; k < end; ++k) matrix.row(k)[k] += curvature_[k] + ridge;
          });
        },
        threads_);
    border_.assign(free_, 1.0);
    solve(border_, 1);
    border_sum_ = 0;
    for (const double value : border_) border_sum_ += value;
  }
  void solve(std::vector<double>& b, std::size_t count) const {
    factor_->solve(b.data(), count, threads_);
  }

  double of(std::size_t k, const double* given, const double* inverse) const {
    if (k < free_) {
      double entry = inverse[k];
      if (bordered_) entry -= border_[k] * border_[k] / border_sum_;
      // The only free point has no span of others.
      return entry > 0 ? std::max(0.0, 1 / entry - curvature_[k]) : K_->diagonal()[k];
    }
    double square = K_->diagonal()[k], along = 0;
    for (std::size_t j = 0; j < free_; ++j) {
      square -= given[j] * inverse[j];
      along += given[j] * border_[j];
    }
    if (bordered_ && free_ > 0) square += (1 - along) * (1 - along) / border_sum_;
    return std::max(0.0, square);
  }

  bool bordered_;
  const Threads& threads_;
  std::vector<Index> points_, position_;  ///< support vectors, the free ones first
  std::size_t free_ = 0;
  std::vector<double> curvature_;
  std::shared_ptr<const Quadratic> K_;
  std::optional<Factor> factor_;
  std::vector<double> border_;  ///< K^-1 1
  double border_sum_ = 0;
};

/// The part of a variable that is lost with one of the rows that share it.
double lost(const Block& block, double a, double part) {
  if (part == 0 || a == 0) return 0;
  if (block.curvature > 0 || std::isinf(block.upper) || block.lower < 0) return a * part;
  return std::max(0.0, a - (1 - part) * block.upper);
}

}  // namespace

std::optional<std::vector<double>> without_one(const Formulated& formulated,
                                               const Subproblem& problem,
                                               const Certified& certified, std::size_t memory,
                                               const Threads& threads) {
  const DualQp& qp = formulated.qp;
  const std::vector<double>& a = certified.solution.a;
  if (SymmetricMatrix::bytes(FreePoints::count_free(qp, a)) > memory) return std::nullopt;
  FreePoints points(qp, a, !qp.A.empty(), threads);
  const std::vector<double> spans = points.squared_spans();
  std::vector<double> f = values_at_examples(formulated, problem, certified);
  const std::size_t blocks = formulated.shares.size() / problem.examples.size();
  for (std::size_t i = 0; i < f.size(); ++i)
    for (std::size_t b = 0; b < blocks; ++b) {
      const Formulated::Share& share = formulated.shares[i * blocks + b];
      const Block& block = qp.block[share.variable];
      const Index at = points.position(qp.row[share.variable]);
      if (at != FreePoints::none)
        f[i] -= block.sign * lost(block, a[share.variable], share.part) * spans[at];
    }
  return f;
}

}  // namespace maxmargin
