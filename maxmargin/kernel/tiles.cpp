#include "maxmargin/kernel/tiles.hpp"

#include <algorithm>
#include <cmath>

// The lowest target is the baseline of the build (x86-64-v2, see CMakeLists.txt); a step between it
// and AVX2 would only add build time.
#define HWY_DISABLED_TARGETS (HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/tiles.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
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

// Binary rows: each feature adds 0 or 1 to the counts of 64 columns at once.
void list_sums_byte(Pairing, const std::uint8_t* panel,
                    std::span<const ListedRow<std::uint8_t>> rows, std::uint8_t* sums) {
  constexpr std::size_t width = panel_width<std::uint8_t>;
  const hn::CappedTag<std::uint8_t, width> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const ListedRow<std::uint8_t>& row = rows[r];
    for (std::size_t c = 0; c < width; c += lanes) {
      auto even = hn::Zero(d), odd = even;
      std::size_t k = 0;
      for (; k + 2 <= row.count; k += 2) {
        even = hn::Add(even, hn::Load(d, panel + row.feature[k] * width + c));
        odd = hn::Add(odd, hn::Load(d, panel + row.feature[k + 1] * width + c));
      }
      if (k < row.count) even = hn::Add(even, hn::Load(d, panel + row.feature[k] * width + c));
      hn::Store(hn::Add(even, odd), d, sums + r * width + c);
    }
  }
}

// With 32 vector registers a block of 6 rows by 4 vectors of accumulators fits, with 16 one by 2.
constexpr std::size_t dense_vectors = HWY_TARGET == HWY_AVX3 ? 4 : 2;

// `rows_at_once` rows share the loads of the panel.
template <std::size_t rows_at_once, class T, class D>
HWY_INLINE void dense_rows(D d, const T* HWY_RESTRICT panel, const T* HWY_RESTRICT left,
                           std::size_t features, T* HWY_RESTRICT sums) {
  constexpr std::size_t width = panel_width<T>;
  const std::size_t lanes = hn::Lanes(d);
  using V = decltype(hn::Zero(d));
  for (std::size_t c = 0; c < width; c += dense_vectors * lanes) {
    V sum[rows_at_once][dense_vectors];
    HWY_UNROLL(8)
    for (std::size_t r = 0; r < rows_at_once; ++r) {
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < dense_vectors; ++k) sum[r][k] = hn::Zero(d);
    }
    for (std::size_t j = 0; j < features; ++j) {
      V z[dense_vectors];
      HWY_UNROLL(4)
      for (std::size_t k = 0; k < dense_vectors; ++k)
        z[k] = hn::Load(d, panel + j * width + c + k * lanes);
      HWY_UNROLL(8)
      for (std::size_t r = 0; r < rows_at_once; ++r) {
        const V x = hn::Set(d, left[r * features + j]);
        HWY_UNROLL(4)
        for (std::size_t k = 0; k < dense_vectors; ++k) sum[r][k] = hn::MulAdd(z[k], x, sum[r][k]);
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

template <class T>
void dense_all(const T* panel, const T* left, std::size_t rows, std::size_t features, T* sums) {
  constexpr std::size_t width = panel_width<T>;
  const hn::CappedTag<T, width / dense_vectors> d;
  std::size_t r = 0;
  for (; r + 6 <= rows; r += 6)
    dense_rows<6>(d, panel, left + r * features, features, sums + r * width);
  for (; r + 2 <= rows; r += 2)
    dense_rows<2>(d, panel, left + r * features, features, sums + r * width);
  for (; r < rows; ++r) dense_rows<1>(d, panel, left + r * features, features, sums + r * width);
}

void dense_sums_float(const float* panel, const float* left, std::size_t rows, std::size_t features,
                      float* sums) {
  dense_all(panel, left, rows, features, sums);
}
void dense_sums_double(const double* panel, const double* left, std::size_t rows,
                       std::size_t features, double* sums) {
  dense_all(panel, left, rows, features, sums);
}

// A number as the sum of two floats: what the maps work on, so that the argument of an exponential
// keeps its digits where a float alone would lose them.
template <class V>
struct HighLow {
  V high, low;
};

template <class D>
HWY_INLINE auto combine(D d, const float* sums, float factor, float row_base, const float* base)
    -> HighLow<decltype(hn::Zero(d))> {
  const auto bases = hn::Add(hn::LoadU(d, base), hn::Set(d, row_base));
  return {hn::MulAdd(hn::LoadU(d, sums), hn::Set(d, factor), bases), hn::Zero(d)};
}

template <class D>
HWY_INLINE auto combine(D d, const std::int32_t* sums, std::int32_t factor, std::int32_t row_base,
                        const std::int32_t* base) -> HighLow<decltype(hn::Zero(d))> {
  const hn::RebindToSigned<D> di;
  const auto bases = hn::Add(hn::LoadU(di, base), hn::Set(di, row_base));
  const auto sum = hn::Add(hn::Mul(hn::LoadU(di, sums), hn::Set(di, factor)), bases);
  const auto low = hn::And(sum, hn::Set(di, 4095));
  return {hn::ConvertTo(d, hn::Sub(sum, low)), hn::ConvertTo(d, low)};
}

template <class D>
HWY_INLINE auto combine(D d, const double* sums, double factor, double row_base, const double* base)
    -> HighLow<decltype(hn::Zero(d))> {
  const hn::Repartition<double, D> dd;
  const hn::Half<D> dh;
  const std::size_t half = hn::Lanes(dd);
  const auto part = [&](std::size_t at) HWY_ATTR {
    const auto bases = hn::Add(hn::LoadU(dd, base + at), hn::Set(dd, row_base));
    return hn::MulAdd(hn::LoadU(dd, sums + at), hn::Set(dd, factor), bases);
  };
  const auto s0 = part(0), s1 = part(half);
  const auto h0 = hn::DemoteTo(dh, s0), h1 = hn::DemoteTo(dh, s1);
  const auto l0 = hn::DemoteTo(dh, hn::Sub(s0, hn::PromoteTo(dd, h0)));
  const auto l1 = hn::DemoteTo(dh, hn::Sub(s1, hn::PromoteTo(dd, h1)));
  return {hn::Combine(d, h1, h0), hn::Combine(d, l1, l0)};
}

// 2^(high + low) for high + low <= 0 or moderate; relative error below 2e-7. Below 2^-126: zero.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V high, V low) {
  const hn::RebindToSigned<D> di;
  const V whole = hn::Round(high);
  const V r = hn::Add(hn::Sub(high, whole), low);
  V p = hn::Set(d, 0.00015345810970757157f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0013399930903688073f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.009618489071726799f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05550328642129898f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.24022646248340607f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931471824645996f));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f));
  const V bounded = hn::Max(whole, hn::Set(d, -126.0f));
  const V scale =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, bounded), hn::Set(di, 127))));
  return hn::IfThenElseZero(hn::Ge(whole, hn::Set(d, -126.0f)), hn::Mul(p, scale));
}

constexpr double log2_of_e = 1.4426950408889634;

struct DecayTile {
  float high, low;
  DecayTile(const Decay& map, double unit) {
    const double rate = -map.rate * unit * log2_of_e;
    high = static_cast<float>(rate);
    low = static_cast<float>(rate - static_cast<double>(high));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    // Rounding may have made a distance slightly negative.
    const V distance = hn::Max(s.high, hn::Zero(d));
    const V rate = hn::Set(d, high);
    const V p = hn::Mul(distance, rate);
    V rest = hn::MulSub(distance, rate, p);
    rest = hn::MulAdd(distance, hn::Set(d, low), rest);
    rest = hn::MulAdd(s.low, rate, rest);
    return power_of_two(d, p, rest);
  }
};

struct RootDecayTile {
  float rate, unit;
  RootDecayTile(const RootDecay& map, double scale)
      : rate(static_cast<float>(-map.rate * log2_of_e)), unit(static_cast<float>(scale)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    const V distance = hn::Max(hn::Add(s.high, s.low), hn::Zero(d));
    const V root = hn::Sqrt(hn::Mul(distance, hn::Set(d, unit)));
    const V p = hn::Mul(root, hn::Set(d, rate));
    return power_of_two(d, p, hn::MulSub(root, hn::Set(d, rate), p));
  }
};

struct IdentityTile {
  float unit;
  IdentityTile(const Identity&, double scale) : unit(static_cast<float>(scale)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    return hn::Mul(hn::Add(s.high, s.low), hn::Set(d, unit));
  }
};

struct PowerTile {
  float factor, shift;
  int degree;
  PowerTile(const Power& map, double unit)
      : factor(static_cast<float>(map.factor * unit)),
        shift(static_cast<float>(map.shift)),
        degree(map.degree) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    V base = hn::MulAdd(s.low, hn::Set(d, factor), hn::Set(d, shift));
    base = hn::MulAdd(s.high, hn::Set(d, factor), base);
    V result = hn::Set(d, 1.0f);
    for (int n = degree; n > 0; n >>= 1) {
      if (n & 1) result = hn::Mul(result, base);
      base = hn::Mul(base, base);
    }
    return result;
  }
};

struct TangentTile {
  float factor, shift;
  TangentTile(const HyperbolicTangent& map, double unit)
      : factor(static_cast<float>(map.factor * unit)), shift(static_cast<float>(map.shift)) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    V argument = hn::MulAdd(s.low, hn::Set(d, factor), hn::Set(d, shift));
    argument = hn::MulAdd(s.high, hn::Set(d, factor), argument);
    return hn::Tanh(d, argument);
  }
};

template <class Tile, class Sum>
void finish_rows(const Tile& tile, const Finish<Sum>& finish, const Sum* sums, std::size_t width,
                 std::size_t rows, std::size_t first, std::size_t count, float* const* out,
                 std::size_t at) {
  const hn::CappedTag<float, 16> d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN float rest[16];
  for (std::size_t r = 0; r < rows; ++r) {
    const Sum* from = sums + r * width + first;
    const Sum* base = finish.column_base + first;
    float* to = out[r] + at;
    std::size_t c = 0;
    for (; c + lanes <= count; c += lanes)
      hn::StoreU(tile(d, combine(d, from + c, finish.factor, finish.row_base[r], base + c)), d,
                 to + c);
    // The sums and bases behind the last wanted column are there: panels are whole.
    if (c < count) {
      HWY_ALIGN Sum padded_sums[16] = {}, padded_base[16] = {};
      std::copy(from + c, from + count, padded_sums);
      std::copy(base + c, base + count, padded_base);
      hn::Store(tile(d, combine(d, padded_sums, finish.factor, finish.row_base[r], padded_base)), d,
                rest);
      std::copy(rest, rest + (count - c), to + c);
    }
  }
}

template <class Sum>
void finish_all(const Map& map, const Finish<Sum>& finish, const Sum* sums, std::size_t width,
                std::size_t rows, std::size_t first, std::size_t count, float* const* out,
                std::size_t at) {
  const auto with = [&](const auto& tile) {
    finish_rows(tile, finish, sums, width, rows, first, count, out, at);
  };
  if (const auto* decay = std::get_if<Decay>(&map)) return with(DecayTile(*decay, finish.unit));
  if (const auto* root = std::get_if<RootDecay>(&map))
    return with(RootDecayTile(*root, finish.unit));
  if (const auto* power = std::get_if<Power>(&map)) return with(PowerTile(*power, finish.unit));
  if (const auto* tangent = std::get_if<HyperbolicTangent>(&map))
    return with(TangentTile(*tangent, finish.unit));
  with(IdentityTile(std::get<Identity>(map), finish.unit));
}

void finish_float(const Map& map, const Finish<float>& finish, const float* sums, std::size_t width,
                  std::size_t rows, std::size_t first, std::size_t count, float* const* out,
                  std::size_t at) {
  finish_all(map, finish, sums, width, rows, first, count, out, at);
}
void finish_double(const Map& map, const Finish<double>& finish, const double* sums,
                   std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                   float* const* out, std::size_t at) {
  finish_all(map, finish, sums, width, rows, first, count, out, at);
}
void finish_int32(const Map& map, const Finish<std::int32_t>& finish, const std::int32_t* sums,
                  std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                  float* const* out, std::size_t at) {
  finish_all(map, finish, sums, width, rows, first, count, out, at);
}

// exp(-rate s) of a whole number s < 256 is a product of table entries, one for each digit of s to
// the base of the number of lanes: tables of that size are looked up within a register.
constexpr std::size_t digits_of(std::size_t lanes) { return lanes >= 16 ? 2 : lanes == 8 ? 3 : 4; }

void finish_byte(const Map& map, const Finish<std::uint8_t>& finish, const std::uint8_t* sums,
                 std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                 float* const* out, std::size_t at) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<std::uint8_t, decltype(d)> du8;
  constexpr std::size_t lanes = hn::MaxLanes(hn::CappedTag<float, 16>());
  constexpr std::size_t digits = digits_of(lanes);
  constexpr int bits = lanes >= 16 ? 4 : lanes == 8 ? 3 : 2;
  const double rate = std::get<Decay>(map).rate * finish.unit;
  HWY_ALIGN float tables[digits][lanes];
  double step = 1;
  for (std::size_t k = 0; k < digits; ++k, step *= lanes)
    for (std::size_t i = 0; i < lanes; ++i)
      tables[k][i] = static_cast<float>(std::exp(-rate * step * static_cast<double>(i)));
  HWY_ALIGN float rest[16];
  HWY_ALIGN std::uint8_t distances[64];
  const auto look_up = [&](std::size_t c) HWY_ATTR {
    auto s = hn::PromoteTo(di, hn::LoadU(du8, distances + c));
    auto product = hn::Set(d, 1.0f);
    HWY_UNROLL(4)
    for (std::size_t k = 0; k < digits; ++k) {
      const auto digit = hn::And(s, hn::Set(di, static_cast<std::int32_t>(lanes - 1)));
      const auto entry = hn::TableLookupLanes(hn::Load(d, tables[k]), hn::IndicesFromVec(d, digit));
      product = k == 0 ? entry : hn::Mul(product, entry);
      s = hn::ShiftRight<bits>(s);
    }
    return product;
  };
  const hn::CappedTag<std::uint8_t, 64> du;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto base = hn::Set(du, finish.row_base[r]);
    for (std::size_t c = 0; c < 64; c += hn::Lanes(du)) {
      const auto sum = hn::Load(du, sums + r * width + c);
      const auto bases = hn::Add(base, hn::LoadU(du, finish.column_base + c));
      hn::Store(hn::Sub(bases, hn::Add(sum, sum)), du, distances + c);
    }
    float* to = out[r] + at;
    std::size_t c = 0;
    for (; c + lanes <= count; c += lanes) hn::StoreU(look_up(first + c), d, to + c);
    if (c < count) {
      // A whole vector, taken from the end of the panel if need be.
      const std::size_t from = std::min(first + c, width - lanes);
      hn::Store(look_up(from), d, rest);
      std::copy(rest + (first + c - from), rest + (first + count - from), to + c);
    }
  }
}

// exp of many doubles; the scalar function takes ten times as long.
void exponentials(double* values, std::size_t count) {
  const hn::CappedTag<double, 8> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Exp(d, hn::LoadU(d, values + i)), d, values + i);
  if (i < count) {
    HWY_ALIGN double padded[8] = {};
    std::copy(values + i, values + count, padded);
    hn::Store(hn::Exp(d, hn::Load(d, padded)), d, padded);
    std::copy(padded, padded + (count - i), values + i);
  }
}

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
HWY_EXPORT(finish_float);
HWY_EXPORT(finish_double);
HWY_EXPORT(finish_int32);
HWY_EXPORT(finish_byte);
HWY_EXPORT(exponentials);

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
template <>
void dense_sums(const float* panel, const float* left, std::size_t rows, std::size_t features,
                float* sums) {
  HWY_DYNAMIC_DISPATCH(dense_sums_float)(panel, left, rows, features, sums);
}
template <>
void dense_sums(const double* panel, const double* left, std::size_t rows, std::size_t features,
                double* sums) {
  HWY_DYNAMIC_DISPATCH(dense_sums_double)(panel, left, rows, features, sums);
}
template <>
void finish_sums(const Map& map, const Finish<float>& finish, const float* sums, std::size_t width,
                 std::size_t rows, std::size_t first, std::size_t count, float* const* out,
                 std::size_t at) {
  HWY_DYNAMIC_DISPATCH(finish_float)
  (map, finish, sums, width, rows, first, count, out, at);
}
template <>
void finish_sums(const Map& map, const Finish<double>& finish, const double* sums,
                 std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                 float* const* out, std::size_t at) {
  HWY_DYNAMIC_DISPATCH(finish_double)
  (map, finish, sums, width, rows, first, count, out, at);
}
template <>
void finish_sums(const Map& map, const Finish<std::int32_t>& finish, const std::int32_t* sums,
                 std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                 float* const* out, std::size_t at) {
  HWY_DYNAMIC_DISPATCH(finish_int32)
  (map, finish, sums, width, rows, first, count, out, at);
}

template <>
void finish_sums(const Map& map, const Finish<std::uint8_t>& finish, const std::uint8_t* sums,
                 std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                 float* const* out, std::size_t at) {
  HWY_DYNAMIC_DISPATCH(finish_byte)
  (map, finish, sums, width, rows, first, count, out, at);
}

void map_exactly(const Map& map, std::span<double> values) {
  if (const auto* decay = std::get_if<Decay>(&map)) {
    // Below -708 the result is less than the smallest normal number.
    for (double& value : values) value = std::max(-decay->rate * value, -708.0);
    HWY_DYNAMIC_DISPATCH(exponentials)(values.data(), values.size());
    return;
  }
  std::visit(
      [&](const auto& each) {
        for (double& value : values) value = each(value);
      },
      map);
}

}  // namespace maxmargin
#endif
