#include "maxmargin/kernel/engine/product/byte_decay.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/engine/product/byte_decay.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "maxmargin/kernel/engine/panel/tiles.hpp"

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace byte_decay_loops {
namespace hn = hwy::HWY_NAMESPACE;

// Rows read side by side, and columns of one pass: y of it (16 KB) stays in L1.
constexpr std::size_t rows_at_once = 8;
constexpr std::size_t columns_at_once = 2048;

using D = hn::CappedTag<float, 16>;
constexpr std::size_t lanes = hn::MaxLanes(D());

/// The tables of this number of lanes, held in registers.
struct Tables {
  static constexpr std::size_t digits = lanes >= 16 ? 2 : lanes == 8 ? 3 : 4;
  static constexpr int bits = lanes >= 16 ? 4 : lanes == 8 ? 3 : 2;
  const float* table[4] = {};

  HWY_INLINE explicit Tables(const ByteDecay::Digits& all) {
    for (std::size_t k = 0; k < digits; ++k)
      table[k] = lanes >= 16 ? all.sixteen[k % 2] : lanes == 8 ? all.eight[k % 3] : all.four[k];
  }

  HWY_INLINE hn::Vec<D> operator()(const std::uint8_t* distances) const {
    const D d;
    const hn::RebindToSigned<D> di;
    const hn::Rebind<std::uint8_t, D> du8;
    auto s = hn::PromoteTo(di, hn::LoadU(du8, distances));
    auto product = hn::Zero(d);
    HWY_UNROLL(4)
    for (std::size_t k = 0; k < digits; ++k) {
      const auto digit = hn::And(s, hn::Set(di, static_cast<std::int32_t>(lanes - 1)));
      const auto entry = hn::TableLookupLanes(hn::Load(d, table[k]), hn::IndicesFromVec(d, digit));
      product = k == 0 ? entry : hn::Mul(product, entry);
      s = hn::ShiftRight<bits>(s);
    }
    return product;
  }
};

void decode(const ByteDecay::Digits& digits, const std::uint8_t* distances, std::size_t count,
            float* out) {
  const D d;
  const Tables tables(digits);
  std::size_t c = 0;
  for (; c + lanes <= count; c += lanes) hn::StoreU(tables(distances + c), d, out + c);
  if (c < count) {
    HWY_ALIGN std::uint8_t padded[16] = {};
    HWY_ALIGN float values[16];
    std::copy(distances + c, distances + count, padded);
    hn::Store(tables(padded), d, values);
    std::copy(values, values + (count - c), out + c);
  }
}

template <std::size_t many>
HWY_INLINE void add_some(const Tables& tables, const std::uint8_t* const* rows,
                         const double* coefficients, std::size_t begin, std::size_t end,
                         double* HWY_RESTRICT y) {
  const hn::Repartition<double, D> dd;
  const hn::Half<D> dh;
  const std::size_t half = hn::Lanes(dd);
  for (std::size_t c = begin; c < end; c += lanes) {
    auto low = hn::LoadU(dd, y + c), high = hn::LoadU(dd, y + c + half);
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < many; ++r) {
      const auto values = tables(rows[r] + c);
      const auto coefficient = hn::Set(dd, coefficients[r]);
      low = hn::MulAdd(hn::PromoteTo(dd, hn::LowerHalf(dh, values)), coefficient, low);
      high = hn::MulAdd(hn::PromoteTo(dd, hn::UpperHalf(dh, values)), coefficient, high);
    }
    hn::StoreU(low, dd, y + c);
    hn::StoreU(high, dd, y + c + half);
  }
}

/// Whole vectors only.
void add_columns(const Tables& tables, const std::uint8_t* const* rows, const double* coefficients,
                 std::size_t row_count, std::size_t begin, std::size_t end, double* y) {
  std::size_t r = 0;
  for (; r + rows_at_once <= row_count; r += rows_at_once)
    add_some<rows_at_once>(tables, rows + r, coefficients + r, begin, end, y);
  for (; r < row_count; ++r) add_some<1>(tables, rows + r, coefficients + r, begin, end, y);
}

void add_byte_rows(const ByteDecay::Digits& digits, const std::uint8_t* const* rows,
                   const double* coefficients, std::size_t row_count, std::size_t count,
                   double* y) {
  const Tables tables(digits);
  const std::size_t whole = count / lanes * lanes;
  for (std::size_t begin = 0; begin < whole; begin += columns_at_once)
    add_columns(tables, rows, coefficients, row_count, begin,
                std::min(whole, begin + columns_at_once), y);
  if (whole == count) return;
  // The same fused operations on a padded copy, so that the place of a cut cannot be seen.
  HWY_ALIGN double sums[16] = {};
  HWY_ALIGN std::uint8_t padded[16] = {};
  std::copy(y + whole, y + count, sums);
  for (std::size_t r = 0; r < row_count; ++r) {
    std::copy(rows[r] + whole, rows[r] + count, padded);
    const std::uint8_t* row = padded;
    add_some<1>(tables, &row, coefficients + r, 0, lanes, sums);
  }
  std::copy(sums, sums + (count - whole), y + whole);
}

void distances(const std::uint8_t* sums, const std::uint8_t* row_base,
               const std::uint8_t* column_base, std::size_t rows, std::size_t first,
               std::size_t count, std::uint8_t* const* out, std::size_t at) {
  constexpr std::size_t width = panel_width<std::uint8_t>;
  const hn::CappedTag<std::uint8_t, 64> d;
  HWY_ALIGN std::uint8_t part[width];
  const bool whole = count == width;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto base = hn::Set(d, row_base[r]);
    std::uint8_t* to = whole ? out[r] + at : part;
    for (std::size_t c = 0; c < width; c += hn::Lanes(d)) {
      const auto sum = hn::Load(d, sums + r * width + c);
      const auto bases = hn::Add(base, hn::LoadU(d, column_base + c));
      hn::StoreU(hn::Sub(bases, hn::Add(sum, sum)), d, to + c);
    }
    if (!whole) std::copy(part + first, part + first + count, out[r] + at);
  }
}

}  // namespace byte_decay_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(decode);
HWY_EXPORT(add_byte_rows);
HWY_EXPORT(distances);

ByteDecay::ByteDecay(double rate) : rate_(rate) {
  const auto fill = [&](auto& tables, std::size_t base) {
    double step = 1;
    for (auto& table : tables) {
      for (std::size_t i = 0; i < base; ++i)
        table[i] = static_cast<float>(std::exp(-rate * step * static_cast<double>(i)));
      step *= static_cast<double>(base);
    }
  };
  fill(digits_.sixteen, 16);
  fill(digits_.eight, 8);
  fill(digits_.four, 4);
  std::array<std::uint8_t, 256> all;
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  decode(all.data(), all.size(), values_.data());
}

void ByteDecay::decode(const std::uint8_t* distances, std::size_t count, float* out) const {
  HWY_DYNAMIC_DISPATCH(decode)(digits_, distances, count, out);
}

void ByteDecay::add_scaled_rows(std::span<const std::uint8_t* const> rows,
                                std::span<const double> coefficients, std::size_t count,
                                double* y) const {
  HWY_DYNAMIC_DISPATCH(add_byte_rows)
  (digits_, rows.data(), coefficients.data(), rows.size(), count, y);
}

void byte_distances(const std::uint8_t* sums, const std::uint8_t* row_base,
                    const std::uint8_t* column_base, std::size_t rows, std::size_t first,
                    std::size_t count, std::uint8_t* const* out, std::size_t at) {
  HWY_DYNAMIC_DISPATCH(distances)(sums, row_base, column_base, rows, first, count, out, at);
}

}  // namespace maxmargin
#endif
