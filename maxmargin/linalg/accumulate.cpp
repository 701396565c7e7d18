#include "maxmargin/linalg/accumulate.hpp"

#include <hwy/cache_control.h>

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/linalg/accumulate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace accumulate_loops {
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

void row_products(const float* const* rows, std::size_t row_count, const double* x,
                  std::size_t count, double* y) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < row_count; ++r) {
    auto even = hn::Zero(d), odd = even;
    std::size_t c = 0;
    for (; c + 2 * lanes <= count; c += 2 * lanes) {
      even = hn::MulAdd(hn::PromoteTo(d, hn::LoadU(df, rows[r] + c)), hn::LoadU(d, x + c), even);
      odd = hn::MulAdd(hn::PromoteTo(d, hn::LoadU(df, rows[r] + c + lanes)),
                       hn::LoadU(d, x + c + lanes), odd);
    }
    double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
    for (; c < count; ++c) sum += static_cast<double>(rows[r][c]) * x[c];
    y[r] += sum;
  }
}

void add_blocks(const BlockRow* rows, const double* coefficients, std::size_t row_count,
                std::size_t columns, double* y) {
  for (std::size_t r = 0; r < row_count; ++r) {
    const BlockRow& row = rows[r];
    const BlockRow& next = rows[r + 1 < row_count ? r + 1 : r];
    for (std::size_t k = 0; k < row.blocks.size(); ++k) {
      // Rows lie anywhere in memory.
      if (k < next.blocks.size()) hwy::Prefetch(next.values + block_columns * k);
      const std::size_t begin = block_columns * row.blocks[k];
      const float* values = row.values + block_columns * k;
      add_some<1>(&values, coefficients + r, 0, std::min(block_columns, columns - begin),
                  y + begin);
    }
  }
}

void pick(const BlockRow* rows, std::size_t row_count, const std::uint16_t* members,
          const std::uint32_t* first, float* const* out) {
  const hn::CappedTag<float, block_columns> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < row_count; ++r) {
    const BlockRow& row = rows[r];
    if (r + 1 < row_count)
      for (std::size_t k = 0; k < rows[r + 1].blocks.size(); ++k)
        if (members[rows[r + 1].blocks[k]] != 0)
          hwy::Prefetch(rows[r + 1].values + block_columns * k);
    for (std::size_t k = 0; k < row.blocks.size(); ++k) {
      std::uint32_t wanted = members[row.blocks[k]];
      if (wanted == 0) continue;
      float* to = out[r] + first[row.blocks[k]];
      for (std::size_t at = 0; at < block_columns; at += lanes, wanted >>= lanes) {
        const std::uint8_t bits[8] = {static_cast<std::uint8_t>(wanted),
                                      static_cast<std::uint8_t>(wanted >> 8)};
        const auto values = hn::LoadU(d, row.values + block_columns * k + at);
        to += hn::CompressBlendedStore(values, hn::LoadMaskBits(d, bits), d, to);
      }
    }
  }
}

bool find_above(const float* values, std::size_t count, float least) {
  const hn::CappedTag<float, 16> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto bound = hn::Set(d, least);
  std::size_t c = 0;
  for (; c + lanes <= count; c += lanes)
    if (!hn::AllFalse(d, hn::Gt(hn::LoadU(d, values + c), bound))) return true;
  for (; c < count; ++c)
    if (values[c] > least) return true;
  return false;
}

}  // namespace accumulate_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_rows);
HWY_EXPORT(row_products);
HWY_EXPORT(add_blocks);
HWY_EXPORT(pick);
HWY_EXPORT(find_above);

void add_scaled_rows(std::span<const float* const> rows, std::span<const double> coefficients,
                     std::size_t count, double* y) {
  HWY_DYNAMIC_DISPATCH(add_rows)(rows.data(), coefficients.data(), rows.size(), count, y);
}

void add_row_products(std::span<const float* const> rows, const double* x, std::size_t count,
                      double* y) {
  HWY_DYNAMIC_DISPATCH(row_products)(rows.data(), rows.size(), x, count, y);
}

void add_scaled_blocks(std::span<const BlockRow> rows, std::span<const double> coefficients,
                       std::size_t columns, double* y) {
  HWY_DYNAMIC_DISPATCH(add_blocks)(rows.data(), coefficients.data(), rows.size(), columns, y);
}

void pick_of_blocks(std::span<const BlockRow> rows, const std::uint16_t* members,
                    const std::uint32_t* first, float* const* out) {
  HWY_DYNAMIC_DISPATCH(pick)(rows.data(), rows.size(), members, first, out);
}

bool any_above(const float* values, std::size_t count, float least) {
  return HWY_DYNAMIC_DISPATCH(find_above)(values, count, least);
}

}  // namespace maxmargin
#endif
