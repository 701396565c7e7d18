// Exponentials of floats, for each instruction set: included once for every one of them.
#if defined(MAXMARGIN_KERNEL_EXPONENTIAL) == defined(HWY_TARGET_TOGGLE)
#ifdef MAXMARGIN_KERNEL_EXPONENTIAL
#undef MAXMARGIN_KERNEL_EXPONENTIAL
#else
#define MAXMARGIN_KERNEL_EXPONENTIAL
#endif

#include <hwy/highway.h>

#include "maxmargin/kernel/form.hpp"

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A number as the sum of two floats: what the maps work on, so that the argument of an exponential
// keeps its digits where a float alone would lose them.
template <class V>
struct HighLow {
  V high, low;
};

// p 2^whole for a whole number; zero where that is below 2^-126.
template <class D, class V>
HWY_INLINE V scaled(D d, V whole, V p) {
  const auto normal = hn::Ge(whole, hn::Set(d, -126.0f));
#if HWY_TARGET <= HWY_AVX3
  // One instruction for the four below.
  if constexpr (sizeof(V) == 64) return V{_mm512_maskz_scalef_ps(normal.raw, p.raw, whole.raw)};
#endif
  const hn::RebindToSigned<D> di;
  const V bounded = hn::Max(whole, hn::Set(d, -126.0f));
  const V scale =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, bounded), hn::Set(di, 127))));
  return hn::IfThenElseZero(normal, hn::Mul(p, scale));
}

// 2^(whole + r) for a whole number and |r| <= 1/2; relative error below 2e-7. Below 2^-126: zero.
template <class D, class V>
HWY_INLINE V scaled_power(D d, V whole, V r) {
  V p = hn::Set(d, 0.00015345810970757157f);
  p = hn::MulAdd(p, r, hn::Set(d, 0.0013399930903688073f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.009618489071726799f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.05550328642129898f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.24022646248340607f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.6931471824645996f));
  return scaled(d, whole, hn::MulAdd(p, r, hn::Set(d, 1.0f)));
}

// 2^(high + low) for high + low <= 0 or moderate.
template <class D, class V>
HWY_INLINE V power_of_two(D d, V high, V low) {
  const V whole = hn::Round(high);
  return scaled_power(d, whole, hn::Add(hn::Sub(high, whole), low));
}

template <class D, class V>
HWY_INLINE V power_of_two(D d, V x) {
#if HWY_TARGET <= HWY_AVX3
  // What is above or below the nearest whole number, in one instruction.
  if constexpr (sizeof(V) == 64) {
    const V r{_mm512_reduce_ps(x.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
    return scaled_power(d, hn::Sub(x, r), r);
  }
#endif
  const V whole = hn::Round(x);
  return scaled_power(d, whole, hn::Sub(x, whole));
}

constexpr double log2_of_e = 1.4426950408889634;

/// a b - p, exactly, for p = a b rounded: one instruction where there are fused ones, Dekker's
/// product where not.
template <class D, class V>
HWY_INLINE V product_error(D d, V a, V b, V p) {
  if constexpr (HWY_NATIVE_FMA) {
    return hn::MulSub(a, b, p);
  } else {
    const auto upper_half = [&](V x) HWY_ATTR {
      const V scaled = hn::Mul(x, hn::Set(d, 4097.0f));
      return hn::Sub(scaled, hn::Sub(scaled, x));
    };
    const V a1 = upper_half(a), a2 = hn::Sub(a, a1), b1 = upper_half(b), b2 = hn::Sub(b, b1);
    const V first = hn::Add(hn::Sub(hn::Mul(a1, b1), p), hn::Mul(a1, b2));
    return hn::Add(hn::Add(first, hn::Mul(a2, b1)), hn::Mul(a2, b2));
  }
}

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
    V rest = product_error(d, distance, rate, p);
    rest = hn::MulAdd(distance, hn::Set(d, low), rest);
    rest = hn::MulAdd(s.low, rate, rest);
    return power_of_two(d, p, rest);
  }
};

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
