#include "maxmargin/problem/matrix/cache/cached_values.hpp"

#include <algorithm>
#include <utility>

#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"

namespace maxmargin {
namespace {

class CachedValues final : public ForwardingQuadratic {
 public:
  CachedValues(std::shared_ptr<const Quadratic> K, CachePolicy policy, std::size_t bytes,
               std::shared_ptr<CacheUse> use, const Threads& threads)
      : ForwardingQuadratic(K),
        policy_(policy),
        bytes_(bytes),
        use_(std::move(use)),
        threads_(threads),
        cache_(std::move(K), bytes, policy, threads) {}
  CachedValues(const CachedValues&) = delete;
  CachedValues& operator=(const CachedValues&) = delete;
  ~CachedValues() override {
    use_->asked += cache_.use().asked;
    use_->found += cache_.use().found;
  }

  /// Without the capabilities that would bypass the cache.
  MatrixCapabilities can() const override {
    MatrixCapabilities own = ForwardingQuadratic::can();
    own.coded = nullptr;
    own.truncated = nullptr;
    return own;
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads&) const override {
    for (std::size_t r = 0; r < which.size(); ++r)
      std::copy_n(cache_.row(which[r]) + begin, count, out[r]);
  }
  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    if (precision == Precision::exact) return inner().multiply(x, y, precision, threads);
    std::fill(y.begin(), y.end(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] != 0) add_row(static_cast<Index>(i), x[i], y);
  }
  std::shared_ptr<const Quadratic> restrict_to(std::span<const Index> points) const override {
    return cache_values(inner().restrict_to(points), policy_, bytes_, use_, threads_);
  }

 private:
  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads&) const override {
    for (std::size_t r = 0; r < which.size(); ++r) cache_.values(points[which[r]], points, out[r]);
  }
  void block(std::span<const Index> which, std::span<const Index> columns,
             std::span<float* const> out, const Threads&) const override {
    for (std::size_t r = 0; r < which.size(); ++r) cache_.values(which[r], columns, out[r]);
  }
  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads&) const override {
    for (std::size_t k = 0; k < which.size(); ++k) add_row(which[k], coefficients[k], y);
  }

  void add_row(Index point, double coefficient, std::span<double> y) const {
    const float* const row = cache_.row(point);
    add_scaled_rows(std::span(&row, 1), std::span(&coefficient, 1), y.size(), y.data());
  }

  CachePolicy policy_;
  std::size_t bytes_;
  std::shared_ptr<CacheUse> use_;
  const Threads& threads_;
  mutable ValueCache cache_;
};

}  // namespace

std::shared_ptr<const Quadratic> cache_values(std::shared_ptr<const Quadratic> K,
                                              CachePolicy policy, std::size_t bytes,
                                              std::shared_ptr<CacheUse> use,
                                              const Threads& threads) {
  if (policy == CachePolicy::function) return K;
  return std::make_shared<const CachedValues>(std::move(K), policy, bytes, std::move(use), threads);
}

}  // namespace maxmargin
