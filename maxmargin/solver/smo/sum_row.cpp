#include "maxmargin/solver/smo/sum_row.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "maxmargin/problem/matrix/by_rows.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

std::shared_ptr<const Quadratic> with_null_point(std::shared_ptr<const Quadratic> K);

/// K and one more point, the last, whose values are all zero.
class NullPointQuadratic final : public Quadratic, PartialProducts {
 public:
  explicit NullPointQuadratic(std::shared_ptr<const Quadratic> K)
      : K_(std::move(K)), diagonal_(K_->diagonal().begin(), K_->diagonal().end()) {
    diagonal_.push_back(0);
  }

  std::size_t size() const override { return diagonal_.size(); }
  std::span<const double> diagonal() const override { return diagonal_; }
  MatrixTraits traits() const override {
    MatrixTraits own = K_->traits();
    own.columns = size();
    return own;
  }
  MatrixCapabilities can() const override {
    MatrixCapabilities own;
    own.partial = this;
    return own;
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    const std::size_t given = begin >= last() ? 0 : std::min(count, last() - begin);
    const Known known(which, last(), out);
    if (given > 0 && !known.which.empty()) K_->rows(known.which, begin, given, known.out, threads);
    for (std::size_t r = 0; r < which.size(); ++r)
      std::fill(out[r] + (which[r] == last() ? 0 : given), out[r] + count, 0.0f);
  }

  void exact_block(std::span<const Index> which, std::size_t begin, std::size_t count, double* out,
                   std::size_t stride) const override {
    const std::size_t given = begin >= last() ? 0 : std::min(count, last() - begin);
    for (std::size_t r = 0; r < which.size(); ++r) {
      const std::size_t known = which[r] == last() ? 0 : given;
      if (known > 0) K_->exact_block(which.subspan(r, 1), begin, known, out + r * stride, stride);
      std::fill(out + r * stride + known, out + r * stride + count, 0.0);
    }
  }

  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads& threads) const override {
    block_by_rows(*this, which, columns, out, threads);
  }

  /// Pairs ask for one product at a time.
  bool multiply_several(std::span<const std::vector<double>>, std::span<std::vector<double>>,
                        const Threads&) const override {
    return false;
  }

  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    // Wherever the null point stands among the others, its row and column are filled here.
    const auto null = static_cast<std::size_t>(std::ranges::find(points, last()) - points.begin());
    if (null == points.size()) return K_->among(points, which, out, threads);
    std::vector<Index> others(points.begin(), points.end());
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(null));
    std::vector<Index> wanted;
    std::vector<float*> to;
    for (std::size_t r = 0; r < which.size(); ++r)
      if (which[r] != null) {
        wanted.push_back(which[r] - (which[r] > null));
        to.push_back(out[r]);
      }
    if (!wanted.empty()) K_->among(others, wanted, to, threads);
    for (std::size_t r = 0; r < which.size(); ++r) {
      if (which[r] == null) {
        std::fill_n(out[r], points.size(), 0.0f);
        continue;
      }
      std::move_backward(out[r] + null, out[r] + others.size(), out[r] + points.size());
      out[r][null] = 0;
    }
  }

  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    std::vector<Index> others;
    std::vector<double> factors;
    for (std::size_t k = 0; k < which.size(); ++k)
      if (which[k] != last()) {
        others.push_back(which[k]);
        factors.push_back(coefficients[k]);
      }
    K_->add_product(others, factors, y.first(last()), threads);
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    K_->multiply(x.first(last()), y.first(last()), precision, threads);
    y[last()] = 0;
  }

  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    if (points.empty() || points.back() != last()) return K_->restrict_to(points);
    return with_null_point(K_->restrict_to(points.first(points.size() - 1)));
  }

 private:
  /// Those of some rows that are not the null point's.
  struct Known {
    Known(std::span<const Index> all, std::size_t null, std::span<float* const> to) {
      for (std::size_t r = 0; r < all.size(); ++r)
        if (all[r] != null) {
          which.push_back(all[r]);
          out.push_back(to[r]);
        }
    }
    std::vector<Index> which;
    std::vector<float*> out;
  };

  std::size_t last() const { return diagonal_.size() - 1; }

  std::shared_ptr<const Quadratic> K_;
  std::vector<double> diagonal_;
};

std::shared_ptr<const Quadratic> with_null_point(std::shared_ptr<const Quadratic> K) {
  return std::make_shared<NullPointQuadratic>(std::move(K));
}

}  // namespace

SumRow::SumRow(const DualQp& given, const std::vector<bool>& in_pair_row) : qp(given) {
  qp.K = with_null_point(given.K);
  double most = 1;
  auto& row = qp.A.emplace_back(given.size(), 0.0);
  for (std::size_t v = 0; v < given.size(); ++v) {
    if (in_pair_row[v]) continue;
    const Block& block = given.block[v];
    row[v] = block.sign;
    most += std::max(std::abs(block.lower), std::abs(block.upper));
  }
  qp.d.push_back(0);
  qp.row.push_back(static_cast<Index>(given.K->size()));
  qp.block.push_back({1, 0, -2 * most, 2 * most, 0});
  for (auto& each : qp.A) each.resize(qp.size(), 0.0);
  row.back() = 1;
}

std::vector<double> SumRow::extended(std::vector<double> a) const {
  if (a.empty()) return a;
  double sum = 0;
  for (std::size_t v = 0; v < a.size(); ++v) sum += qp.A.back()[v] * a[v];
  a.push_back(-sum);
  return a;
}

Solution SumRow::reduced(Solution solution) {
  solution.a.pop_back();
  solution.lambda.pop_back();
  return solution;
}

}  // namespace maxmargin
