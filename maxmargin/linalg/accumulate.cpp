#include "maxmargin/linalg/accumulate.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/linalg/accumulate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows read side by side: enough to hide the latency of y, few enough for the prefetcher.
constexpr std::size_t rows_at_once = 8;
// y of one pass (16 KB) stays in L1 while the rows stream by.
constexpr std::size_t columns_at_once = 2048;

template <std::size_t many>
HWY_INLINE void add_some(const float* const* rows, const double* coefficients, std::size_t begin,
                         std::size_t end, double* HWY_RESTRICT y) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = begin;
  for (; c + lanes <= end; c += lanes) {
    auto sum = hn::LoadU(d, y + c);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < many; ++r)
      sum = hn::MulAdd(hn::PromoteTo(d, hn::LoadU(df, rows[r] + c)), hn::Set(d, coefficients[r]),
                       sum);
    hn::StoreU(sum, d, y + c);
  }
  // The same fused operations as above, so that the place of a cut cannot be seen in the result.
  for (; c < end; ++c) {
    const hn::CappedTag<double, 1> d1;
    const hn::Rebind<float, decltype(d1)> df1;
    auto sum = hn::LoadU(d1, y + c);
    for (std::size_t r = 0; r < many; ++r)
      sum = hn::MulAdd(hn::PromoteTo(d1, hn::LoadU(df1, rows[r] + c)), hn::Set(d1, coefficients[r]),
                       sum);
    hn::StoreU(sum, d1, y + c);
  }
}

void add_rows(const float* const* rows, const double* coefficients, std::size_t row_count,
              std::size_t count, double* y) {
  for (std::size_t begin = 0; begin < count; begin += columns_at_once) {
    const std::size_t end = std::min(count, begin + columns_at_once);
    std::size_t r = 0;
    for (; r + rows_at_once <= row_count; r += rows_at_once)
      add_some<rows_at_once>(rows + r, coefficients + r, begin, end, y);
    for (; r < row_count; ++r) add_some<1>(rows + r, coefficients + r, begin, end, y);
  }
}

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_rows);

void add_scaled_rows(std::span<const float* const> rows, std::span<const double> coefficients,
                     std::size_t count, double* y) {
  HWY_DYNAMIC_DISPATCH(add_rows)(rows.data(), coefficients.data(), rows.size(), count, y);
}

}  // namespace maxmargin
#endif
