// From sums to kernel values: the second half of tiles.hpp.
#include <algorithm>
#include <cmath>

#include "maxmargin/base/visit.hpp"
#include "maxmargin/kernel/engine/panel/tiles.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/engine/panel/finish.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include "maxmargin/kernel/engine/product/exponential-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace finish_loops {
namespace hn = hwy::HWY_NAMESPACE;

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
  // What is left over is as small as the rounding of a float: the exponent's fraction holds it.
  const auto high = hn::ConvertTo(d, sum);
  return {high, hn::ConvertTo(d, hn::Sub(sum, hn::ConvertTo(di, high)))};
}

// Sums in double may be beyond the range of float: what the map makes of them is not.
template <class D, class Tile>
HWY_INLINE auto combine(D d, const Tile& tile, const double* sums, double factor, double row_base,
                        const double* base) -> HighLow<decltype(hn::Zero(d))> {
  const hn::Repartition<double, D> dd;
  const hn::Half<D> dh;
  const std::size_t half = hn::Lanes(dd);
  const auto part = [&](std::size_t at) HWY_ATTR {
    const auto bases = hn::Add(hn::LoadU(dd, base + at), hn::Set(dd, row_base));
    return tile.argument(dd, hn::MulAdd(hn::LoadU(dd, sums + at), hn::Set(dd, factor), bases));
  };
  const auto s0 = part(0), s1 = part(half);
  const auto h0 = hn::DemoteTo(dh, s0), h1 = hn::DemoteTo(dh, s1);
  const auto l0 = hn::DemoteTo(dh, hn::Sub(s0, hn::PromoteTo(dd, h0)));
  const auto l1 = hn::DemoteTo(dh, hn::Sub(s1, hn::PromoteTo(dd, h1)));
  return {hn::Combine(d, h1, h0), hn::Combine(d, l1, l0)};
}

// The same maps for sums in double: the argument is one too, its function is of floats.
constexpr double least_exponent = -200;  // of 2: zero as a float

struct DoubleDecayTile {
  double rate;
  DoubleDecayTile(const Decay& map, double unit) : rate(-map.rate * unit * log2_of_e) {}
  template <class DD, class V>
  HWY_INLINE V argument(DD d, V sum) const {
    const V distance = hn::Max(sum, hn::Zero(d));
    return hn::Max(hn::Mul(distance, hn::Set(d, rate)), hn::Set(d, least_exponent));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    return power_of_two(d, s.high, s.low);
  }
};

struct DoubleRootDecayTile {
  double rate;
  DoubleRootDecayTile(const RootDecay& map, double unit)
      : rate(-map.rate * std::sqrt(unit) * log2_of_e) {}
  template <class DD, class V>
  HWY_INLINE V argument(DD d, V sum) const {
    const V distance = hn::Sqrt(hn::Max(sum, hn::Zero(d)));
    return hn::Max(hn::Mul(distance, hn::Set(d, rate)), hn::Set(d, least_exponent));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    return power_of_two(d, s.high, s.low);
  }
};

/// factor s + shift, whose function is that of a float map without either.
template <class FloatTile>
struct DoubleLineTile {
  double factor, shift;
  FloatTile tile;
  template <class DD, class V>
  HWY_INLINE V argument(DD d, V sum) const {
    return hn::MulAdd(sum, hn::Set(d, factor), hn::Set(d, shift));
  }
  template <class D, class V>
  HWY_INLINE V operator()(D d, HighLow<V> s) const {
    return tile(d, s);
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
    return power_of_two(d, p, product_error(d, root, hn::Set(d, rate), p));
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
    // The tile stands here once, so that it is part of the loop.
    for (std::size_t c = 0; c < count; c += lanes) {
      const Sum *some = from + c, *their_base = base + c;
      HWY_ALIGN Sum padded_sums[16], padded_base[16];
      const bool is_whole = c + lanes <= count;
      if (!is_whole) {
        std::fill(std::copy(some, from + count, padded_sums), padded_sums + lanes, Sum{});
        std::fill(std::copy(their_base, base + count, padded_base), padded_base + lanes, Sum{});
        some = padded_sums;
        their_base = padded_base;
      }
      hn::Vec<decltype(d)> values;
      if constexpr (std::is_same_v<Sum, double>)
        values = tile(d, combine(d, tile, some, finish.factor, finish.row_base[r], their_base));
      else
        values = tile(d, combine(d, some, finish.factor, finish.row_base[r], their_base));
      if (is_whole) {
        hn::StoreU(values, d, to + c);
      } else {
        hn::Store(values, d, rest);
        std::copy(rest, rest + (count - c), to + c);
      }
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
  const auto with = [&](const auto& tile) {
    finish_rows(tile, finish, sums, width, rows, first, count, out, at);
  };
  if (const auto* decay = std::get_if<Decay>(&map))
    return with(DoubleDecayTile(*decay, finish.unit));
  if (const auto* root = std::get_if<RootDecay>(&map))
    return with(DoubleRootDecayTile(*root, finish.unit));
  if (const auto* power = std::get_if<Power>(&map))
    return with(DoubleLineTile<PowerTile>{power->factor * finish.unit, power->shift,
                                          PowerTile(Power{1, 0, power->degree}, 1)});
  if (const auto* tangent = std::get_if<HyperbolicTangent>(&map))
    return with(DoubleLineTile<TangentTile>{tangent->factor * finish.unit, tangent->shift,
                                            TangentTile(HyperbolicTangent{1, 0}, 1)});
  with(DoubleLineTile<IdentityTile>{finish.unit, 0, IdentityTile(Identity{}, 1)});
}
void finish_int32(const Map& map, const Finish<std::int32_t>& finish, const std::int32_t* sums,
                  std::size_t width, std::size_t rows, std::size_t first, std::size_t count,
                  float* const* out, std::size_t at) {
  finish_all(map, finish, sums, width, rows, first, count, out, at);
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

/// The columns of a panel of doubles stay in registers while the rows pass by.
void add_decay(double rate, const Finish<double>& finish, const double* sums, std::size_t rows,
               const double* coefficients, double* HWY_RESTRICT y) {
  const hn::CappedTag<double, 8> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, finish.factor), minus = hn::Set(d, -rate);
  // Below -708 the result is less than the smallest normal number.
  const auto least = hn::Set(d, -708.0), zero = hn::Zero(d);
  for (std::size_t c = 0; c < panel_width<double>; c += lanes) {
    auto sum = hn::LoadU(d, y + c);
    const auto column_base = hn::LoadU(d, finish.column_base + c);
    for (std::size_t r = 0; r < rows; ++r) {
      const auto base = hn::Add(column_base, hn::Set(d, finish.row_base[r]));
      const auto part = hn::Load(d, sums + r * panel_width<double> + c);
      const auto distance = hn::Max(hn::MulAdd(part, factor, base), zero);
      const auto value = hn::Exp(d, hn::Max(hn::Mul(distance, minus), least));
      sum = hn::MulAdd(value, hn::Set(d, coefficients[r]), sum);
    }
    hn::StoreU(sum, d, y + c);
  }
}

}  // namespace finish_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(finish_float);
HWY_EXPORT(finish_double);
HWY_EXPORT(finish_int32);
HWY_EXPORT(exponentials);
HWY_EXPORT(add_decay);

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

void add_exactly(const Map& map, bool is_distance, const Finish<double>& finish, const double* sums,
                 std::size_t rows, const double* coefficients, std::size_t count, double* y) {
  constexpr std::size_t width = panel_width<double>;
  if (const auto* decay = std::get_if<Decay>(&map); decay != nullptr && is_distance) {
    double padded[width] = {};
    std::copy_n(y, count, padded);
    HWY_DYNAMIC_DISPATCH(add_decay)(decay->rate, finish, sums, rows, coefficients, padded);
    std::copy_n(padded, count, y);
    return;
  }
  double values[width];
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < count; ++c) {
      const double sum =
          finish.factor * sums[r * width + c] + (finish.row_base[r] + finish.column_base[c]);
      values[c] = is_distance ? std::max(sum, 0.0) : sum;
    }
    map_exactly(map, {values, count});
    for (std::size_t c = 0; c < count; ++c) y[c] += coefficients[r] * values[c];
  }
}

void map_exactly(const Map& map, std::span<double> values) {
  if (const auto* decay = std::get_if<Decay>(&map)) {
    // Below -708 the result is less than the smallest normal number.
    for (double& value : values) value = std::max(-decay->rate * value, -708.0);
    HWY_DYNAMIC_DISPATCH(exponentials)(values.data(), values.size());
    return;
  }
  visit_list(
      [&](const auto& each) {
        for (double& value : values) value = each(value);
      },
      map);
}

}  // namespace maxmargin
#endif
