#include "maxmargin/kernel/engine/panel/tiles.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/engine/panel/tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace tiles_loops {
namespace hn = hwy::HWY_NAMESPACE;

// How many vectors of accumulators one pass keeps in registers.
constexpr std::size_t vectors_at_once = 4;

template <Pairing pairing, class D, class V>
HWY_INLINE V add_term(D d, V sum, V z, V x) {
  if constexpr (pairing == Pairing::manhattan) {
    return hn::Add(sum, hn::Sub(hn::Abs(hn::Sub(z, x)), hn::Abs(z)));
  } else if constexpr (pairing == Pairing::chi_squared) {
    // x > 0 for a listed feature, so the quotient is defined.
    const V difference = hn::Sub(z, x);
    (void)d;
    return hn::Add(sum, hn::Sub(hn::Div(hn::Mul(difference, difference), hn::Add(z, x)), z));
  } else {
    return hn::MulAdd(z, x, sum);
  }
}

// Two sets of accumulators (odd and even non-zeros) hide the latency of the additions.
template <Pairing pairing, class T, class D>
HWY_INLINE void list_row(D d, const T* HWY_RESTRICT panel, const ListedRow<T>& row,
                         T* HWY_RESTRICT sums) {
  constexpr std::size_t width = panel_width<T>;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t c = 0;
  for (; c + vectors_at_once * lanes <= width; c += vectors_at_once * lanes) {
    auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
    auto b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    std::size_t k = 0;
    for (; k + 2 <= row.count; k += 2) {
      const T* z = panel + row.feature[k] * width + c;
      const auto x = hn::Set(d, row.value[k]);
      a0 = add_term<pairing>(d, a0, hn::Load(d, z), x);
      a1 = add_term<pairing>(d, a1, hn::Load(d, z + lanes), x);
      a2 = add_term<pairing>(d, a2, hn::Load(d, z + 2 * lanes), x);
      a3 = add_term<pairing>(d, a3, hn::Load(d, z + 3 * lanes), x);
      const T* z2 = panel + row.feature[k + 1] * width + c;
      const auto x2 = hn::Set(d, row.value[k + 1]);
      b0 = add_term<pairing>(d, b0, hn::Load(d, z2), x2);
      b1 = add_term<pairing>(d, b1, hn::Load(d, z2 + lanes), x2);
      b2 = add_term<pairing>(d, b2, hn::Load(d, z2 + 2 * lanes), x2);
      b3 = add_term<pairing>(d, b3, hn::Load(d, z2 + 3 * lanes), x2);
    }
    if (k < row.count) {
      const T* z = panel + row.feature[k] * width + c;
      const auto x = hn::Set(d, row.value[k]);
      a0 = add_term<pairing>(d, a0, hn::Load(d, z), x);
      a1 = add_term<pairing>(d, a1, hn::Load(d, z + lanes), x);
      a2 = add_term<pairing>(d, a2, hn::Load(d, z + 2 * lanes), x);
      a3 = add_term<pairing>(d, a3, hn::Load(d, z + 3 * lanes), x);
    }
    hn::Store(hn::Add(a0, b0), d, sums + c);
    hn::Store(hn::Add(a1, b1), d, sums + c + lanes);
    hn::Store(hn::Add(a2, b2), d, sums + c + 2 * lanes);
    hn::Store(hn::Add(a3, b3), d, sums + c + 3 * lanes);
  }
}

template <Pairing pairing, class T>
void list_rows(const T* panel, std::span<const ListedRow<T>> rows, T* sums) {
  const hn::CappedTag<T, panel_width<T> / vectors_at_once> d;
  for (std::size_t r = 0; r < rows.size(); ++r)
    list_row<pairing>(d, panel, rows[r], sums + r * panel_width<T>);
}

template <class T>
void list_all(Pairing pairing, const T* panel, std::span<const ListedRow<T>> rows, T* sums) {
  switch (pairing) {
    case Pairing::manhattan:
      return list_rows<Pairing::manhattan>(panel, rows, sums);
    case Pairing::chi_squared:
      return list_rows<Pairing::chi_squared>(panel, rows, sums);
    default:
      return list_rows<Pairing::dot>(panel, rows, sums);
  }
}

void list_sums_float(Pairing pairing, const float* panel, std::span<const ListedRow<float>> rows,
                     float* sums) {
  list_all(pairing, panel, rows, sums);
}
void list_sums_double(Pairing pairing, const double* panel, std::span<const ListedRow<double>> rows,
                      double* sums) {
  list_all(pairing, panel, rows, sums);
}

// One lane holds a pair of features of one row: a multiply-add of pairs sums both.
void list_sums_int16(Pairing, const std::int16_t* panel,
                     std::span<const ListedRow<std::int16_t>> rows, std::int32_t* sums) {
  constexpr std::size_t width = panel_width<std::int16_t>;
  const hn::CappedTag<std::int32_t, width / vectors_at_once> d;
  const hn::Repartition<std::int16_t, decltype(d)> d16;
  const std::size_t lanes = hn::Lanes(d);
  using V = decltype(hn::Zero(d));
  const auto multiply_add = [&](V sum, const std::int16_t* z, V x) HWY_ATTR {
    V unused = hn::Zero(d);
    const V result =
        hn::ReorderWidenMulAccumulate(d, hn::Load(d16, z), hn::BitCast(d16, x), sum, unused);
    return hn::Add(result, unused);
  };
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const ListedRow<std::int16_t>& row = rows[r];
    for (std::size_t c = 0; c < width; c += vectors_at_once * lanes) {
      V a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
      for (std::size_t k = 0; k < row.count; ++k) {
        const std::int16_t* z = panel + (row.feature[k] * width + c) * 2;
        const V x = hn::Set(d, row.value[k]);
        a0 = multiply_add(a0, z, x);
        a1 = multiply_add(a1, z + 2 * lanes, x);
        a2 = multiply_add(a2, z + 4 * lanes, x);
        a3 = multiply_add(a3, z + 6 * lanes, x);
      }
      std::int32_t* out = sums + r * width + c;
      hn::Store(a0, d, out);
      hn::Store(a1, d, out + lanes);
      hn::Store(a2, d, out + 2 * lanes);
      hn::Store(a3, d, out + 3 * lanes);
    }
  }
}

// Binary rows: a feature is half a byte for each column, so that few loads bring many columns, and
// so many features can be added before the counts are widened.
constexpr std::size_t features_a_half_byte = 15;

void list_sums_byte(Pairing, const std::uint8_t* panel,
                    std::span<const ListedRow<std::uint8_t>> rows, std::uint8_t* sums) {
  constexpr std::size_t width = panel_width<std::uint8_t>, half = width / 2;
  const hn::CappedTag<std::uint8_t, half> d;
  const hn::Repartition<std::uint16_t, decltype(d)> d16;
  const auto mask = hn::Set(d, 0x0f);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < half; c += hn::Lanes(d)) {
      auto low = hn::Zero(d), high = low;
      for (std::size_t k = 0; k < rows[r].count;) {
        const std::size_t end = std::min(rows[r].count, k + features_a_half_byte);
        auto both = hn::Zero(d);
        for (; k < end; ++k)
          both = hn::Add(both, hn::Load(d, panel + rows[r].feature[k] * half + c));
        const auto upper = hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(d16, both)));
        low = hn::Add(low, hn::And(both, mask));
        high = hn::Add(high, hn::And(upper, mask));
      }
      hn::Store(low, d, sums + r * width + c);
      hn::Store(high, d, sums + r * width + half + c);
    }
}

// With 32 vector registers a block of 6 rows by 4 vectors of accumulators fits, with 16 one by 2.
constexpr std::size_t dense_vectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;

/// Rows that have all features of the panel.
template <class T, std::size_t rows_at_once>
struct WholeRows {
  const T* HWY_RESTRICT row[rows_at_once];
  WholeRows(const T* const* rows, std::size_t first_feature) {
    for (std::size_t r = 0; r < rows_at_once; ++r) row[r] = rows[r] + first_feature;
  }
  std::size_t feature(std::size_t j) const { return j; }
  T value(std::size_t r, std::size_t j) const { return row[r][j]; }
};

/// Rows with a common list of features.
struct GroupedRows {
  const std::uint32_t* HWY_RESTRICT features;
  const float* HWY_RESTRICT values;
  std::size_t feature(std::size_t j) const { return features[j]; }
  float value(std::size_t r, std::size_t j) const { return values[j * rows_a_group + r]; }
};

// `rows_at_once` rows share the loads of the panel. Products are summed, or squares of differences;
// what comes first of a row starts its sums.
template <std::size_t rows_at_once, bool differences, class T, class D, class LeftRows>
HWY_INLINE void dense_rows(D d, const T* HWY_RESTRICT panel, const LeftRows& left,
                           std::size_t features, bool comes_first, T* HWY_RESTRICT sums) {
  constexpr std::size_t width = panel_width<T>;
  const std::size_t lanes = hn::Lanes(d);
  using V = decltype(hn::Zero(d));
  for (std::size_t c = 0; c < width; c += dense_vectors * lanes) {
    V sum[rows_at_once][dense_vectors];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < rows_at_once; ++r) {
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < dense_vectors; ++k)
        sum[r][k] = comes_first ? hn::Zero(d) : hn::Load(d, sums + r * width + c + k * lanes);
    }
    for (std::size_t j = 0; j < features; ++j) {
      V z[dense_vectors];
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < dense_vectors; ++k)
        z[k] = hn::Load(d, panel + left.feature(j) * width + c + k * lanes);
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < rows_at_once; ++r) {
        const V x = hn::Set(d, left.value(r, j));
        HWY_UNROLL(4)
        for (std::size_t k = 0; k < dense_vectors; ++k) {
          if constexpr (differences) {
            const V difference = hn::Sub(z[k], x);
            sum[r][k] = hn::MulAdd(difference, difference, sum[r][k]);
          } else {
            sum[r][k] = hn::MulAdd(z[k], x, sum[r][k]);
          }
        }
      }
    }
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < rows_at_once; ++r) {
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < dense_vectors; ++k)
        hn::Store(sum[r][k], d, sums + r * width + c + k * lanes);
    }
  }
}

/// The features [first, end) of a panel.
template <bool differences, class T>
void dense_part(const T* panel, std::span<const T* const> rows, std::size_t first, std::size_t end,
                bool comes_first, T* sums) {
  constexpr std::size_t width = panel_width<T>;
  const hn::CappedTag<T, width / dense_vectors> d;
  const auto some = [&]<std::size_t many>(std::size_t r) HWY_ATTR {
    dense_rows<many, differences>(d, panel + first * width,
                                  WholeRows<T, many>(rows.data() + r, first), end - first,
                                  comes_first, sums + r * width);
  };
  std::size_t r = 0;
  for (; r + 6 <= rows.size(); r += 6) some.template operator()<6>(r);
  for (; r + 2 <= rows.size(); r += 2) some.template operator()<2>(r);
  for (; r < rows.size(); ++r) some.template operator()<1>(r);
}

// So many features of a panel, 16 KB, stay in L1 while all rows use them.
constexpr std::size_t features_a_block = 64;

template <bool differences, class T>
void dense_all(const T* panel, std::span<const T* const> rows, std::size_t features, T* sums) {
  for (std::size_t j = 0; j == 0 || j < features; j += features_a_block)
    dense_part<differences>(panel, rows, j, std::min(j + features_a_block, features), j == 0, sums);
}

/// sums = block or sums += block, in double.
HWY_INLINE void add_block(const float* HWY_RESTRICT block, std::size_t count, bool first,
                          double* HWY_RESTRICT sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  for (std::size_t c = 0; c < count; c += hn::Lanes(d)) {
    const auto part = hn::PromoteTo(d, hn::Load(df, block + c));
    hn::Store(first ? part : hn::Add(hn::Load(d, sums + c), part), d, sums + c);
  }
}

// Non-zeros are sparser than features: a block has about as many terms either way.
constexpr std::size_t listed_features_a_block = 128;

void dense_blocks(const float* panel, std::span<const float* const> rows, std::size_t features,
                  double* sums) {
  constexpr std::size_t width = panel_width<float>;
  HWY_ALIGN float block[rows_a_tile * width];
  for (std::size_t j = 0; j == 0 || j < features; j += features_a_block) {
    dense_part<false>(panel, rows, j, std::min(j + features_a_block, features), true, block);
    add_block(block, rows.size() * width, j == 0, sums);
  }
}

void list_blocks(const float* panel, std::span<const ListedRow<float>> rows, double* sums) {
  constexpr std::size_t width = panel_width<float>;
  const hn::CappedTag<float, width / vectors_at_once> d;
  HWY_ALIGN float block[width];
  std::size_t done[rows_a_tile] = {};
  std::size_t left = rows.size();
  for (std::size_t end = listed_features_a_block; left > 0; end += listed_features_a_block) {
    left = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const ListedRow<float>& row = rows[r];
      std::size_t k = done[r];
      while (k < row.count && row.feature[k] < end) ++k;
      const bool first = end == listed_features_a_block;
      if (first || k > done[r]) {
        list_row<Pairing::dot>(
            d, panel, ListedRow<float>{row.feature + done[r], row.value + done[r], k - done[r]},
            block);
        add_block(block, width, first, sums + r * width);
      }
      done[r] = k;
      left += k < row.count;
    }
  }
}

void group_sums_float(const float* panel, std::span<const ListedRow<float>> groups, float* sums) {
  constexpr std::size_t width = panel_width<float>;
  const hn::CappedTag<float, width / dense_vectors> d;
  for (std::size_t g = 0; g < groups.size(); ++g)
    dense_rows<rows_a_group, false>(d, panel, GroupedRows{groups[g].feature, groups[g].value},
                                    groups[g].count, true, sums + g * rows_a_group * width);
}

void group_blocks(const float* panel, std::span<const ListedRow<float>> groups, double* sums) {
  constexpr std::size_t width = panel_width<float>;
  const hn::CappedTag<float, width / dense_vectors> d;
  HWY_ALIGN float block[rows_a_group * width];
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::size_t done = 0;
    // Blocks end at certain features, whatever the other rows of a group have.
    for (std::size_t end = listed_features_a_block; done == 0 || done < groups[g].count;
         end += listed_features_a_block) {
      std::size_t next = done;
      while (next < groups[g].count && groups[g].feature[next] < end) ++next;
      const bool first = end == listed_features_a_block;
      if (!first && next == done) continue;
      const GroupedRows rows{groups[g].feature + done, groups[g].value + done * rows_a_group};
      dense_rows<rows_a_group, false>(d, panel, rows, next - done, true, block);
      add_block(block, rows_a_group * width, first, sums + g * rows_a_group * width);
      if (groups[g].count == 0) break;
      done = next;
    }
  }
}

void dense_sums_float(const float* panel, std::span<const float* const> rows, std::size_t features,
                      float* sums) {
  dense_all<false>(panel, rows, features, sums);
}
void difference_sums_float(const float* panel, std::span<const float* const> rows,
                           std::size_t features, float* sums) {
  dense_all<true>(panel, rows, features, sums);
}
void dense_sums_double(const double* panel, std::span<const double* const> rows,
                       std::size_t features, double* sums) {
  dense_all<false>(panel, rows, features, sums);
}
void difference_sums_double(const double* panel, std::span<const double* const> rows,
                            std::size_t features, double* sums) {
  dense_all<true>(panel, rows, features, sums);
}

}  // namespace tiles_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(list_sums_float);
HWY_EXPORT(list_sums_double);
HWY_EXPORT(list_sums_int16);
HWY_EXPORT(list_sums_byte);
HWY_EXPORT(dense_sums_float);
HWY_EXPORT(dense_sums_double);
HWY_EXPORT(difference_sums_float);
HWY_EXPORT(difference_sums_double);
HWY_EXPORT(dense_blocks);
HWY_EXPORT(list_blocks);
HWY_EXPORT(group_sums_float);
HWY_EXPORT(group_blocks);

template <>
void list_sums(Pairing pairing, const float* panel, std::span<const ListedRow<float>> rows,
               float* sums) {
  HWY_DYNAMIC_DISPATCH(list_sums_float)(pairing, panel, rows, sums);
}
template <>
void list_sums(Pairing pairing, const double* panel, std::span<const ListedRow<double>> rows,
               double* sums) {
  HWY_DYNAMIC_DISPATCH(list_sums_double)(pairing, panel, rows, sums);
}
template <>
void list_sums(Pairing pairing, const std::int16_t* panel,
               std::span<const ListedRow<std::int16_t>> rows, std::int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(list_sums_int16)(pairing, panel, rows, sums);
}
template <>
void list_sums(Pairing pairing, const std::uint8_t* panel,
               std::span<const ListedRow<std::uint8_t>> rows, std::uint8_t* sums) {
  HWY_DYNAMIC_DISPATCH(list_sums_byte)(pairing, panel, rows, sums);
}
void list_sums_by_blocks(const float* panel, std::span<const ListedRow<float>> rows, double* sums) {
  HWY_DYNAMIC_DISPATCH(list_blocks)(panel, rows, sums);
}
void difference_sums(const float* panel, std::span<const float* const> rows, std::size_t features,
                     float* sums) {
  HWY_DYNAMIC_DISPATCH(difference_sums_float)(panel, rows, features, sums);
}
void difference_sums(const double* panel, std::span<const double* const> rows, std::size_t features,
                     double* sums) {
  HWY_DYNAMIC_DISPATCH(difference_sums_double)(panel, rows, features, sums);
}
void group_sums(const float* panel, std::span<const ListedRow<float>> groups, float* sums) {
  HWY_DYNAMIC_DISPATCH(group_sums_float)(panel, groups, sums);
}
void group_sums(const float* panel, std::span<const ListedRow<float>> groups, double* sums) {
  HWY_DYNAMIC_DISPATCH(group_blocks)(panel, groups, sums);
}
void dense_sums_by_blocks(const float* panel, std::span<const float* const> rows,
                          std::size_t features, double* sums) {
  HWY_DYNAMIC_DISPATCH(dense_blocks)(panel, rows, features, sums);
}
template <>
void dense_sums(const float* panel, std::span<const float* const> rows, std::size_t features,
                float* sums) {
  HWY_DYNAMIC_DISPATCH(dense_sums_float)(panel, rows, features, sums);
}
template <>
void dense_sums(const double* panel, std::span<const double* const> rows, std::size_t features,
                double* sums) {
  HWY_DYNAMIC_DISPATCH(dense_sums_double)(panel, rows, features, sums);
}

}  // namespace maxmargin
#endif
