#include "maxmargin/structured/tasks/sequence/label_loops.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/structured/tasks/sequence/label_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace label_loops {
namespace hn = hwy::HWY_NAMESPACE;

using Labels = hn::CappedTag<double, 8>;

/// Keeps some vectors of labels from `at` on in registers. The last vector ends with the last
/// label, and so may overlap the one before it.
template <std::size_t vectors>
HWY_INLINE void max_labels(const double* from, const double* pair, std::size_t labels,
                           std::size_t at, double* to) {
  const Labels d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Labels> best[vectors];
  std::size_t begin[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    begin[v] = std::min(at + v * lanes, labels - lanes);
    best[v] = hn::Set(d, -std::numeric_limits<double>::infinity());
  }
  for (std::size_t k = 0; k < labels; ++k) {
    const auto before = hn::Set(d, from[k]);
    const double* row = pair + k * labels;
    for (std::size_t v = 0; v < vectors; ++v)
      best[v] = hn::Max(best[v], hn::Add(before, hn::LoadU(d, row + begin[v])));
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(best[v], d, to + begin[v]);
}

void best_before_loop(const double* from, const double* pair, std::size_t labels, double* to) {
  const std::size_t lanes = hn::Lanes(Labels());
  if (labels < lanes) {
    std::fill(to, to + labels, -std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < labels; ++k)
      for (std::size_t l = 0; l < labels; ++l)
        to[l] = std::max(to[l], from[k] + pair[k * labels + l]);
    return;
  }
  std::size_t at = 0;
  for (; at + 2 * lanes < labels; at += 3 * lanes) max_labels<3>(from, pair, labels, at, to);
  for (; at < labels; at += lanes) max_labels<1>(from, pair, labels, at, to);
}

using Floats = hn::CappedTag<float, 16>;

/// Keeps the sums of some rows for 16 labels in registers, so that w is read once for all these
/// rows.
template <std::size_t rows>
HWY_INLINE void sum_rows(const float* z, std::size_t rank, const float* w, std::size_t stride,
                         float* sums) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t at = 0; at < stride; at += lanes) {
    hn::Vec<Floats> sum[rows];
    for (std::size_t r = 0; r < rows; ++r) sum[r] = hn::Zero(d);
    for (std::size_t k = 0; k < rank; ++k) {
      const auto of_label = hn::LoadU(d, w + k * stride + at);
      for (std::size_t r = 0; r < rows; ++r)
        sum[r] = hn::MulAdd(hn::Set(d, z[r * rank + k]), of_label, sum[r]);
    }
    for (std::size_t r = 0; r < rows; ++r) hn::StoreU(sum[r], d, sums + r * stride + at);
  }
}

void label_sums_loop(const float* z, std::size_t rows, std::size_t rank, const float* w,
                     std::size_t stride, float* sums) {
  std::size_t r = 0;
  for (; r + 8 <= rows; r += 8) sum_rows<8>(z + r * rank, rank, w, stride, sums + r * stride);
  for (; r + 4 <= rows; r += 4) sum_rows<4>(z + r * rank, rank, w, stride, sums + r * stride);
  for (; r < rows; ++r) sum_rows<1>(z + r * rank, rank, w, stride, sums + r * stride);
}

template <std::size_t rows>
HWY_INLINE void add_changes(const float* const* z, std::size_t rank, const float* change,
                            std::size_t stride, float* w) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t at = 0; at < stride; at += lanes) {
    hn::Vec<Floats> changes[rows];
    for (std::size_t r = 0; r < rows; ++r) changes[r] = hn::LoadU(d, change + r * stride + at);
    for (std::size_t k = 0; k < rank; ++k) {
      auto of_label = hn::LoadU(d, w + k * stride + at);
      for (std::size_t r = 0; r < rows; ++r)
        of_label = hn::MulAdd(hn::Set(d, z[r][k]), changes[r], of_label);
      hn::StoreU(of_label, d, w + k * stride + at);
    }
  }
}

void add_label_changes_loop(const float* const* z, std::size_t rows, std::size_t rank,
                            const float* change, std::size_t stride, float* w) {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4) add_changes<4>(z + r, rank, change + r * stride, stride, w);
  for (; r < rows; ++r) add_changes<1>(z + r, rank, change + r * stride, stride, w);
}

}  // namespace label_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(best_before_loop);
HWY_EXPORT(label_sums_loop);
HWY_EXPORT(add_label_changes_loop);

void best_before(const double* from, const double* pair, std::size_t labels, double* to) {
  HWY_DYNAMIC_DISPATCH(best_before_loop)(from, pair, labels, to);
}

void label_sums(const float* z, std::size_t rows, std::size_t rank, const float* w,
                std::size_t stride, float* sums) {
  HWY_DYNAMIC_DISPATCH(label_sums_loop)(z, rows, rank, w, stride, sums);
}

void add_label_changes(std::span<const float* const> z, std::size_t rank, const float* change,
                       std::size_t stride, float* w) {
  HWY_DYNAMIC_DISPATCH(add_label_changes_loop)(z.data(), z.size(), rank, change, stride, w);
}

}  // namespace maxmargin
#endif
