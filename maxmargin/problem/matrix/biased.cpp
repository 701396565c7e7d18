#include "maxmargin/problem/matrix/biased.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"

namespace maxmargin {
namespace {

class BiasedQuadratic final : public ForwardingQuadratic {
 public:
  explicit BiasedQuadratic(std::shared_ptr<const Quadratic> K)
      : ForwardingQuadratic(std::move(K)),
        diagonal_(inner().diagonal().begin(), inner().diagonal().end()) {
    for (const double value : diagonal_) largest_ = std::max(largest_, std::abs(value));
    for (double& value : diagonal_) value += 1;
  }

  std::span<const double> diagonal() const override { return diagonal_; }

  /// The errors of K plus that of adding 1, relative to larger values; cached rows are rounded to
  /// float.
  MatrixTraits traits() const override {
    MatrixTraits own = inner().traits();
    const double share = largest_ / (largest_ + 1);
    own.deviation = share * own.deviation + float_rounding / 2;
    own.fast_error = own.fast_error + float_roundoff;
    own.exact_error = own.exact_error + 4 * unit_roundoff;
    own.columns = std::min(size(), inner().columns() < size() ? inner().columns() + 1 : size());
    return own;
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    inner().rows(which, begin, count, out, threads);
    add_one(out.first(which.size()), count);
  }

  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    inner().exact_block(which, begin, count, out, stride);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c) out[r * stride + c] += 1;
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    inner().multiply(x, y, precision, threads);
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    for (double& value : y) value += sum;
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return make_biased(inner().restrict_to(points));
  }

 private:
  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    inner().among(points, which, out, threads);
    add_one(out.first(which.size()), points.size());
  }

  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads& threads) const override {
    inner().block(which, columns, out, threads);
    add_one(out.first(which.size()), columns.size());
  }

  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    inner().add_product(which, coefficients, y, threads);
    const double sum = std::accumulate(coefficients.begin(), coefficients.end(), 0.0);
    for (double& value : y) value += sum;
  }

  bool multiply_several(std::span<const std::vector<double>> x, std::span<std::vector<double>> y,
                        const Threads& threads) const override {
    const PartialProducts* theirs = inner().can().partial;
    if (theirs == nullptr || !theirs->multiply_several(x, y, threads)) return false;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double sum = std::accumulate(x[k].begin(), x[k].end(), 0.0);
      for (double& value : y[k]) value += sum;
    }
    return true;
  }

  /// The sum over x is rounded once more.
  double extended_error() const override {
    return ForwardingQuadratic::extended_error() + 4 * extended_roundoff;
  }
  void multiply_extended(std::span<const double> x, std::span<long double> y,
                         const Threads& threads) const override {
    ForwardingQuadratic::multiply_extended(x, y, threads);
    const long double sum = std::accumulate(x.begin(), x.end(), 0.0L);
    for (long double& value : y) value += sum;
  }

  double shift() const override { return ForwardingQuadratic::shift() + 1; }

  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const override {
    if (most_columns == 0) return nullptr;
    const auto Z = inner().low_rank(most_columns - 1);
    if (!Z) return nullptr;
    auto wider = std::make_shared<LowRank>(Z->points(), Z->rank() + 1);
    for (std::size_t i = 0; i < Z->points(); ++i) {
      std::copy_n(Z->row(i), Z->rank(), wider->row(i));
      wider->row(i)[Z->rank()] = 1;
    }
    return wider;
  }

  static void add_one(std::span<float* const> rows, std::size_t count) {
    for (float* row : rows)
      for (std::size_t c = 0; c < count; ++c) row[c] += 1;
  }

  std::vector<double> diagonal_;
  double largest_ = 0;
};

}  // namespace

std::shared_ptr<const Quadratic> make_biased(std::shared_ptr<const Quadratic> K) {
  return std::make_shared<BiasedQuadratic>(std::move(K));
}

}  // namespace maxmargin
