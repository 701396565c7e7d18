#include "maxmargin/problem/matrix/cache/cached_rows.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/linalg/accumulate.hpp"
#include "maxmargin/problem/matrix/cache/segment_store.hpp"
#include "maxmargin/problem/matrix/forwarding.hpp"

namespace maxmargin {
namespace {

constexpr std::size_t columns_per_task = 4096;

class CachedRows final : public ForwardingQuadratic, StoredRows {
 public:
  CachedRows(std::shared_ptr<const Quadratic> K, std::size_t bytes)
      : ForwardingQuadratic(std::move(K)), store_(std::make_unique<SegmentStore>(size(), bytes)) {}

  /// Rows that are cached whole are not truncated as well.
  MatrixCapabilities can() const override {
    MatrixCapabilities own = ForwardingQuadratic::can();
    own.stored = this;
    own.truncated = nullptr;
    return own;
  }

  bool has_room() const override { return store_->room() >= size(); }
  bool are_truncated() const override { return false; }
  const float* row(Index point) const override { return store_->find(point, 0, size()); }
  std::optional<BlockRow> truncated_row(Index) const override { return std::nullopt; }

  void keep(std::span<const Index> which, const Threads& threads) const override {
    const std::size_t most = store_->room() / size();
    std::vector<Index> missing;
    std::vector<std::unique_ptr<float[]>> values;
    std::vector<float*> to;
    for (std::size_t k = 0; k < which.size() && missing.size() < most; ++k) {
      if (row(which[k]) != nullptr) continue;
      missing.push_back(which[k]);
      values.push_back(std::make_unique_for_overwrite<float[]>(size()));
      to.push_back(values.back().get());
    }
    if (missing.empty()) return;
    inner().rows(missing, 0, size(), to, threads);
    for (std::size_t k = 0; k < missing.size(); ++k)
      store_->add(missing[k], 0, size(), std::move(values[k]));
  }

  void rows(std::span<const Index> which, std::size_t begin, std::size_t count,
            std::span<float* const> out, const Threads& threads) const override {
    std::vector<Index> missing;
    std::vector<float*> to;
    for (std::size_t r = 0; r < which.size(); ++r) {
      if (const float* cached = row(which[r])) {
        std::copy_n(cached + begin, count, out[r]);
      } else {
        missing.push_back(which[r]);
        to.push_back(out[r]);
      }
    }
    if (missing.empty()) return;
    inner().rows(missing, begin, count, to, threads);
    if (count < size()) return;
    for (std::size_t k = 0; k < missing.size(); ++k) store_->add(missing[k], 0, count, to[k]);
  }

  void among(std::span<const Index> points, std::span<const Index> which,
             std::span<float* const> out, const Threads& threads) const override {
    std::vector<Index> missing;
    std::vector<float*> to;
    for (std::size_t r = 0; r < which.size(); ++r) {
      if (const float* cached = row(points[which[r]])) {
        for (std::size_t c = 0; c < points.size(); ++c) out[r][c] = cached[points[c]];
      } else {
        missing.push_back(which[r]);
        to.push_back(out[r]);
      }
    }
    if (!missing.empty()) inner().among(points, missing, to, threads);
  }

  void add_product(std::span<const Index> which, std::span<const double> coefficients,
                   std::span<double> y, const Threads& threads) const override {
    keep(which, threads);
    std::vector<Index> missing;
    std::vector<const float*> cached;
    std::vector<double> of_missing, of_cached;
    for (std::size_t k = 0; k < which.size(); ++k) {
      if (const float* held = row(which[k])) {
        cached.push_back(held);
        of_cached.push_back(coefficients[k]);
      } else {
        missing.push_back(which[k]);
        of_missing.push_back(coefficients[k]);
      }
    }
    add(cached, of_cached, y, threads);
    inner().add_product(missing, of_missing, y, threads);
  }

  void multiply(std::span<const double> x, std::span<double> y, Precision precision,
                const Threads& threads) const override {
    if (precision == Precision::exact) return inner().multiply(x, y, precision, threads);
    std::vector<Index> which;
    std::vector<double> coefficients;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == 0) continue;
      which.push_back(static_cast<Index>(i));
      coefficients.push_back(x[i]);
    }
    std::fill(y.begin(), y.end(), 0.0);
    add_product(which, coefficients, y, threads);
  }

 private:
  static void add(std::span<const float* const> rows, std::span<const double> coefficients,
                  std::span<double> y, const Threads& threads) {
    if (rows.empty()) return;
    threads.split(y.size(), columns_per_task, [&](std::size_t begin, std::size_t end) {
      std::vector<const float*> from(rows.begin(), rows.end());
      for (const float*& row : from) row += begin;
      add_scaled_rows(from, coefficients, end - begin, y.data() + begin);
    });
  }

  std::unique_ptr<SegmentStore> store_;
};

}  // namespace

std::shared_ptr<const Quadratic> cache_rows(std::shared_ptr<const Quadratic> K, std::size_t bytes,
                                            const CostModel& costs) {
  const bool pays = K->value_cost() >= costs.touch_value && K->can().coded == nullptr &&
                    K->columns() >= K->size();
  return pays ? std::make_shared<const CachedRows>(std::move(K), bytes) : K;
}

}  // namespace maxmargin
