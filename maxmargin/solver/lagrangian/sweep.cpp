#include "maxmargin/solver/lagrangian/sweep.hpp"

#include <algorithm>
#include <numeric>

#include "maxmargin/linalg/blas.hpp"

namespace maxmargin {
namespace {

// Points that are summed up together, whatever the number of threads; a block of their rows stays
// in cache between the two products it takes part in.
constexpr std::size_t points_per_part = 8192;
constexpr std::size_t points_at_once = 256;

/// ((Qa + p) - gamma c a)_+ - p, with Qa = r.
double next(const Block& block, double r, double a, double gamma, unsigned char& kept) {
  const double inside = r + block.linear - gamma * block.curvature * a;
  kept = inside > 0;
  return std::max(0.0, inside) - block.linear;
}

class DenseSweep final : public Sweep {
 public:
  DenseSweep(const DualQp& qp, ReducedKkt& kkt) : qp_(qp), kkt_(kkt) { kept_.resize(qp.size()); }

  void refresh() override { is_fresh_ = false; }

  void run(std::vector<double>& r, std::vector<double>& a, double gamma) override {
    if (!is_fresh_) {
      std::vector<Index> all(qp_.size());
      std::iota(all.begin(), all.end(), Index{0});
      std::vector<double> D;
      for (const Block& block : qp_.block) D.push_back(block.curvature);
      kkt_.factor(std::move(all), std::move(D), {});
      is_fresh_ = true;
    }
    a = kkt_.solve(r, {}).x;
    for (std::size_t v = 0; v < qp_.size(); ++v)
      r[v] = next(qp_.block[v], r[v], a[v], gamma, kept_[v]);
  }

 private:
  const DualQp& qp_;
  ReducedKkt& kkt_;
  bool is_fresh_ = false;
};

/// With y = Z'beta of the next a: (1 + Z'diag(1/c)Z) y = Z'S(r/c), and a = (r - S'Zy)/c.
class LowRankSweep final : public Sweep {
 public:
  LowRankSweep(const DualQp& qp, std::shared_ptr<const LowRank> Z, const Threads& threads)
      : qp_(qp), Z_(std::move(Z)), threads_(threads), factor_(Z_->rank()) {
    kept_.resize(qp.size());
    order_variables();
    std::vector<double> softness(Z_->points(), 0.0);
    for (std::size_t v = 0; v < qp.size(); ++v) softness[qp.row[v]] += 1 / qp.block[v].curvature;
    std::vector<Index> all(Z_->points());
    std::iota(all.begin(), all.end(), Index{0});
    const std::vector<double> gram = Z_->gram(all, softness, threads);
    const std::size_t rank = Z_->rank();
    factor_.require_cholesky(
        [&] {
          for (std::size_t i = 0; i < rank; ++i) {
            std::copy_n(gram.data() + i * rank, i + 1, factor_.matrix().row(i));
            factor_.matrix().row(i)[i] += 1;
          }
        },
        threads);
  }

  void run(std::vector<double>& r, std::vector<double>& a, double gamma) override {
    if (y_.empty()) y_ = summed([&](std::size_t p) { return share(p, r); });
    factor_.solve(y_.data(), 1, threads_);
    const std::size_t parts = (Z_->points() + points_per_part - 1) / points_per_part;
    std::vector<double> sums(parts * Z_->rank(), 0.0);
    threads_.run(parts, [&](std::size_t part) {
      const std::size_t last = std::min(Z_->points(), (part + 1) * points_per_part);
      for (std::size_t p = part * points_per_part; p < last; p += points_at_once)
        pass(p, std::min(last, p + points_at_once), r, a, gamma, sums.data() + part * Z_->rank());
    });
    y_.assign(Z_->rank(), 0.0);
    for (std::size_t part = 0; part < parts; ++part)
      for (std::size_t j = 0; j < y_.size(); ++j) y_[j] += sums[part * y_.size() + j];
  }

 private:
  /// The variables of each point, one after another.
  void order_variables() {
    first_.assign(Z_->points() + 1, 0);
    for (const Index p : qp_.row) ++first_[p + 1];
    for (std::size_t p = 0; p < Z_->points(); ++p) first_[p + 1] += first_[p];
    variables_.resize(qp_.size());
    std::vector<std::size_t> next_place(first_.begin(), first_.end() - 1);
    for (std::size_t v = 0; v < qp_.size(); ++v)
      variables_[next_place[qp_.row[v]]++] = static_cast<Index>(v);
  }

  double share(std::size_t p, const std::vector<double>& r) const {
    double sum = 0;
    for (std::size_t k = first_[p]; k < first_[p + 1]; ++k) {
      const Block& block = qp_.block[variables_[k]];
      sum += block.sign * r[variables_[k]] / block.curvature;
    }
    return sum;
  }

  template <class Value>
  std::vector<double> summed(Value&& value) const {
    std::vector<double> x(Z_->points());
    for (std::size_t p = 0; p < x.size(); ++p) x[p] = value(p);
    return Z_->gather(x, threads_);
  }

  /// a of some points, the r after it, and what these points add to Z'S(r/c).
  void pass(std::size_t begin, std::size_t end, std::vector<double>& r, std::vector<double>& a,
            double gamma, double* sum) {
    const int count = static_cast<int>(end - begin), rank = static_cast<int>(Z_->rank());
    double product[points_at_once], shares[points_at_once];
    blas().cblas_dgemv(CblasRowMajor, CblasNoTrans, count, rank, 1, Z_->row(begin), rank, y_.data(),
                       1, 0, product, 1);
    for (std::size_t p = begin; p < end; ++p) {
      for (std::size_t k = first_[p]; k < first_[p + 1]; ++k) {
        const Index v = variables_[k];
        const Block& block = qp_.block[v];
        a[v] = (r[v] - block.sign * product[p - begin]) / block.curvature;
        r[v] = next(block, r[v], a[v], gamma, kept_[v]);
      }
      shares[p - begin] = share(p, r);
    }
    blas().cblas_dgemv(CblasRowMajor, CblasTrans, count, rank, 1, Z_->row(begin), rank, shares, 1,
                       1, sum, 1);
  }

  const DualQp& qp_;
  std::shared_ptr<const LowRank> Z_;
  const Threads& threads_;
  Factor factor_;
  std::vector<std::size_t> first_;
  std::vector<Index> variables_;
  std::vector<double> y_;  ///< Z'S(r/c), then its solution
};

}  // namespace

std::unique_ptr<Sweep> make_dense_sweep(const DualQp& qp, ReducedKkt& kkt) {
  return std::make_unique<DenseSweep>(qp, kkt);
}

std::unique_ptr<Sweep> make_low_rank_sweep(const DualQp& qp, std::shared_ptr<const LowRank> Z,
                                           const Threads& threads) {
  return std::make_unique<LowRankSweep>(qp, std::move(Z), threads);
}

}  // namespace maxmargin
