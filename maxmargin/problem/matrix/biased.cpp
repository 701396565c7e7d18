#include "maxmargin/problem/matrix/biased.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/matrix/low_rank.hpp"

namespace maxmargin {
namespace {

class BiasedQuadratic final : public Quadratic {
 public:
  explicit BiasedQuadratic(std::shared_ptr<const Quadratic> K)
      : K_(std::move(K)), diagonal_(K_->diagonal().begin(), K_->diagonal().end()) {
    for (double& value : diagonal_) value += 1;
  }

  std::size_t size() const override { return K_->size(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  Definite definite() const override { return K_->definite(); }
  std::size_t bytes() const override { return K_->bytes(); }
  double value_cost() const override { return K_->value_cost(); }
  double deviation() const override { return K_->deviation(); }
  double value_error(Precision precision) const override {
    return K_->value_error(precision) + 4 * unit_roundoff;  // of the last addition
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    K_->rows(which, begin, count, out, threads);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c) out[r][c] += 1;
  }

  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    K_->exact_block(which, begin, count, out, stride);
    for (std::size_t r = 0; r < which.size(); ++r)
      for (std::size_t c = 0; c < count; ++c) out[r * stride + c] += 1;
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    K_->multiply(x, y, precision, threads);
    const double sum = std::accumulate(x.begin(), x.end(), 0.0);
    for (double& value : y) value += sum;
  }

  std::size_t columns() const override {
    return std::min(size(), K_->columns() < size() ? K_->columns() + 1 : size());
  }
  std::shared_ptr<const LowRank> low_rank(std::size_t most_columns) const override {
    if (most_columns == 0) return nullptr;
    const auto Z = K_->low_rank(most_columns - 1);
    if (!Z) return nullptr;
    auto wider = std::make_shared<LowRank>(Z->points(), Z->rank() + 1);
    for (std::size_t i = 0; i < Z->points(); ++i) {
      std::copy_n(Z->row(i), Z->rank(), wider->row(i));
      wider->row(i)[Z->rank()] = 1;
    }
    return wider;
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return make_biased(K_->restrict_to(points));
  }

 private:
  std::shared_ptr<const Quadratic> K_;
  std::vector<double> diagonal_;
};

}  // namespace

std::shared_ptr<const Quadratic> make_biased(std::shared_ptr<const Quadratic> K) {
  return std::make_shared<BiasedQuadratic>(std::move(K));
}

}  // namespace maxmargin
