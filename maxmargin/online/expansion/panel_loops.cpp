#include "maxmargin/online/expansion/panel_loops.hpp"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/online/expansion/panel_loops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace panel_loops {
namespace hn = hwy::HWY_NAMESPACE;

// At most 8 lanes, because the sizes of panels are multiples of 8.
using Doubles = hn::CappedTag<double, 8>;

/// Keeps `vectors` vectors of sums in registers.
template <std::size_t vectors>
HWY_INLINE void sum_stretch(const double* const* rows, const double* times, std::size_t count,
                            std::size_t at, double* sums) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Doubles> sum[vectors];
  for (std::size_t v = 0; v < vectors; ++v) sum[v] = hn::Zero(d);
  for (std::size_t k = 0; k < count; ++k) {
    const auto factor = hn::Set(d, times[k]);
    const double* row = rows[k] + at;
    for (std::size_t v = 0; v < vectors; ++v)
      sum[v] = hn::Add(sum[v], hn::Mul(factor, hn::LoadU(d, row + v * lanes)));
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + at + v * lanes);
}

void panel_sums_loop(const double* const* rows, const double* times, std::size_t count,
                     std::size_t size, double* sums) {
  const std::size_t lanes = hn::Lanes(Doubles());
  std::size_t at = 0;
  for (; at + 16 * lanes <= size; at += 16 * lanes) sum_stretch<16>(rows, times, count, at, sums);
  for (; at < size; at += lanes) sum_stretch<1>(rows, times, count, at, sums);
}

void values_of_counts_loop(const std::uint8_t* const* rows, std::size_t count, const CountMap& map,
                           std::size_t size, double* values) {
  const hn::CappedTag<std::uint8_t, 64> bytes;
  const hn::CappedTag<std::int32_t, 16> words;
  const hn::Rebind<std::uint8_t, hn::CappedTag<std::int32_t, 16>> quarter;
  const Doubles d;
  const hn::RebindToSigned<Doubles> whole;
  const hn::Rebind<std::int32_t, Doubles> half;
  const auto base = hn::Set(words, map.base), by = hn::Set(words, map.by);
  HWY_ALIGN std::uint8_t common[64];
  HWY_ALIGN std::int32_t sum[64];
  const std::size_t block = hn::Lanes(bytes);
  for (std::size_t at = 0; at < size; at += block) {
    auto counts = hn::Zero(bytes);
    for (std::size_t k = 0; k < count; ++k)
      counts = hn::Add(counts, hn::LoadU(bytes, rows[k] + at));
    hn::Store(counts, bytes, common);
    for (std::size_t j = 0; j < block; j += hn::Lanes(words)) {
      const auto c = hn::PromoteTo(words, hn::LoadU(quarter, common + j));
      const auto length = hn::Add(base, hn::LoadU(words, map.lengths + at + j));
      hn::Store(hn::Add(length, hn::Mul(by, c)), words, sum + j);
    }
    for (std::size_t j = 0; j < block && at + j < size; j += hn::Lanes(d)) {
      const auto index = hn::PromoteTo(whole, hn::LoadU(half, sum + j));
      hn::StoreU(hn::GatherIndex(d, map.table, index), d, values + at + j);
    }
  }
}

bool distances_loop(double base, const double* bases, std::size_t size, double share, double* s) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto own = hn::Set(d, base), least = hn::Set(d, share), two = hn::Set(d, 2.0);
  bool small = false;
  for (std::size_t i = 0; i < size; i += lanes) {
    const auto both = hn::Add(own, hn::LoadU(d, bases + i));
    const auto distance = hn::Sub(both, hn::Mul(two, hn::LoadU(d, s + i)));
    small = small || !hn::AllFalse(d, hn::Lt(distance, hn::Mul(least, both)));
    hn::StoreU(distance, d, s + i);
  }
  return small;
}

void decay_loop(double rate, std::size_t size, double* s) {
  const Doubles d;
  const auto minus = hn::Set(d, -rate);
  for (std::size_t i = 0; i < size; i += hn::Lanes(d)) {
    const auto sum = hn::Max(hn::LoadU(d, s + i), hn::Zero(d));
    hn::StoreU(hn::Exp(d, hn::Mul(minus, sum)), d, s + i);
  }
}

void root_decay_loop(double rate, std::size_t size, double* s) {
  const Doubles d;
  const auto minus = hn::Set(d, -rate);
  for (std::size_t i = 0; i < size; i += hn::Lanes(d)) {
    const auto root = hn::Sqrt(hn::Max(hn::LoadU(d, s + i), hn::Zero(d)));
    hn::StoreU(hn::Exp(d, hn::Mul(minus, root)), d, s + i);
  }
}

double inner_product_loop(const double* x, const double* y, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= size; i += 2 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

void add_multiple_loop(double by, const double* x, std::size_t size, double* y) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factor = hn::Set(d, by);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::Mul(factor, hn::LoadU(d, x + i))), d, y + i);
  for (; i < size; ++i) y[i] += by * x[i];
}

std::size_t smallest_product_loop(const double* x, const double* weight, std::size_t size) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto none = hn::Set(d, std::numeric_limits<double>::infinity());
  const auto product_of = [&](std::size_t k) { return std::abs(x[k]) * weight[k]; };
  double least = std::numeric_limits<double>::infinity();
  std::size_t block = size;  // the first with the smallest product
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto w = hn::LoadU(d, weight + i);
    const auto product = hn::Mul(hn::Abs(hn::LoadU(d, x + i)), w);
    const auto less = hn::And(hn::Gt(w, hn::Zero(d)), hn::Lt(product, hn::Set(d, least)));
    if (hn::AllFalse(d, less)) continue;
    least = hn::GetLane(hn::MinOfLanes(d, hn::IfThenElse(less, product, none)));
    block = i;
  }
  for (; i < size; ++i)
    if (weight[i] > 0 && product_of(i) < least) {
      least = product_of(i);
      block = i;
    }
  for (; block < size; ++block)
    if (weight[block] > 0 && product_of(block) == least) break;
  return block;
}

ViolatingPair most_violating_pair_loop(const PairArrays& rows) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const auto none = hn::Set(d, infinite);
  auto low = none;
  ViolatingPair ends{rows.size, -infinite, infinite};
  std::size_t block = rows.size;  // the first with a row of the highest gradient
  std::size_t i = 0;
  for (; i + lanes <= rows.size; i += lanes) {
    const auto g = hn::LoadU(d, rows.gradient + i), alpha = hn::LoadU(d, rows.alpha + i);
    const auto can_fall = hn::Gt(alpha, hn::LoadU(d, rows.least + i));
    low = hn::Min(low, hn::IfThenElse(can_fall, g, none));
    const auto can_rise = hn::Lt(alpha, hn::LoadU(d, rows.most + i));
    const auto higher = hn::And(can_rise, hn::Gt(g, hn::Set(d, ends.highest)));
    if (hn::AllFalse(d, higher)) continue;
    ends.highest = hn::GetLane(hn::MaxOfLanes(d, hn::IfThenElse(higher, g, hn::Neg(none))));
    block = i;
  }
  ends.lowest = hn::GetLane(hn::MinOfLanes(d, low));
  for (; i < rows.size; ++i) {
    if (rows.alpha[i] > rows.least[i]) ends.lowest = std::fmin(ends.lowest, rows.gradient[i]);
    if (!(rows.alpha[i] < rows.most[i]) || !(rows.gradient[i] > ends.highest)) continue;
    ends.highest = rows.gradient[i];
    block = i;
  }
  for (ends.up = block; ends.up < rows.size; ++ends.up)
    if (rows.gradient[ends.up] == ends.highest && rows.alpha[ends.up] < rows.most[ends.up]) break;
  return ends;
}

void movable_rows_loop(const PairArrays& rows, double middle, std::vector<std::size_t>& found) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const auto between = hn::Set(d, middle);
  const auto look_at = [&](std::size_t i) {
    const bool rises = rows.alpha[i]<rows.most[i], falls = rows.alpha[i]> rows.least[i];
    const double g = rows.gradient[i];
    if ((rises && (falls || g >= middle)) || (falls && g <= middle)) found.push_back(i);
  };
  std::size_t i = 0;
  for (; i + lanes <= rows.size; i += lanes) {
    const auto g = hn::LoadU(d, rows.gradient + i), alpha = hn::LoadU(d, rows.alpha + i);
    const auto rises = hn::Lt(alpha, hn::LoadU(d, rows.most + i));
    const auto falls = hn::Gt(alpha, hn::LoadU(d, rows.least + i));
    const auto up = hn::And(rises, hn::Or(falls, hn::Ge(g, between)));
    if (hn::AllFalse(d, hn::Or(up, hn::And(falls, hn::Le(g, between))))) continue;
    for (std::size_t j = i; j < i + lanes; ++j) look_at(j);
  }
  for (; i < rows.size; ++i) look_at(i);
}

std::size_t best_partner_loop(const PairArrays& rows, std::size_t up, const double* k) {
  const Doubles d;
  const std::size_t lanes = hn::Lanes(d);
  const double highest = rows.gradient[up], self = rows.self[up];
  const auto gain_of = [&](std::size_t j) {
    const double gap = highest - rows.gradient[j];
    if (!(gap > 0) || !(rows.alpha[j] > rows.least[j])) return 0.0;
    return gap * gap / pair_curvature(self, rows.self[j], k[j]);
  };
  const auto top = hn::Set(d, highest), own = hn::Set(d, self);
  const auto two = hn::Set(d, 2.0), least_curvature = hn::Set(d, 1e-12);
  double most = 0;
  std::size_t block = rows.size;  // the first with a row of the largest gain
  std::size_t j = 0;
  for (; j + lanes <= rows.size; j += lanes) {
    const auto gap = hn::Sub(top, hn::LoadU(d, rows.gradient + j));
    const auto can_fall = hn::Gt(hn::LoadU(d, rows.alpha + j), hn::LoadU(d, rows.least + j));
    const auto curvature =
        hn::Sub(hn::Add(own, hn::LoadU(d, rows.self + j)), hn::Mul(two, hn::LoadU(d, k + j)));
    const auto gain = hn::Div(hn::Mul(gap, gap), hn::Max(curvature, least_curvature));
    const auto counts = hn::And(can_fall, hn::Gt(gap, hn::Zero(d)));
    const auto better = hn::And(counts, hn::Gt(gain, hn::Set(d, most)));
    if (hn::AllFalse(d, better)) continue;
    most = hn::GetLane(hn::MaxOfLanes(d, hn::IfThenElseZero(better, gain)));
    block = j;
  }
  for (; j < rows.size; ++j)
    if (gain_of(j) > most) {
      most = gain_of(j);
      block = j;
    }
  for (j = block; j < rows.size; ++j)
    if (gain_of(j) == most) break;
  return j;
}

}  // namespace panel_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(panel_sums_loop);
HWY_EXPORT(values_of_counts_loop);
HWY_EXPORT(distances_loop);
HWY_EXPORT(decay_loop);
HWY_EXPORT(root_decay_loop);
HWY_EXPORT(inner_product_loop);
HWY_EXPORT(add_multiple_loop);
HWY_EXPORT(smallest_product_loop);
HWY_EXPORT(most_violating_pair_loop);
HWY_EXPORT(movable_rows_loop);
HWY_EXPORT(best_partner_loop);

void panel_sums(std::span<const double* const> rows, std::span<const double> times,
                std::size_t size, double* sums) {
  HWY_DYNAMIC_DISPATCH(panel_sums_loop)(rows.data(), times.data(), rows.size(), size, sums);
}
void values_of_counts(std::span<const std::uint8_t* const> rows, const CountMap& map,
                      std::size_t size, double* values) {
  HWY_DYNAMIC_DISPATCH(values_of_counts_loop)(rows.data(), rows.size(), map, size, values);
}
bool distances(double base, const double* bases, std::size_t size, double share, double* s) {
  return HWY_DYNAMIC_DISPATCH(distances_loop)(base, bases, size, share, s);
}
void decay(double rate, std::size_t size, double* s) {
  HWY_DYNAMIC_DISPATCH(decay_loop)(rate, size, s);
}
void root_decay(double rate, std::size_t size, double* s) {
  HWY_DYNAMIC_DISPATCH(root_decay_loop)(rate, size, s);
}
double inner_product(const double* x, const double* y, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(inner_product_loop)(x, y, size);
}
void add_multiple(double by, const double* x, std::size_t size, double* y) {
  HWY_DYNAMIC_DISPATCH(add_multiple_loop)(by, x, size, y);
}
std::size_t smallest_product(const double* x, const double* weight, std::size_t size) {
  return HWY_DYNAMIC_DISPATCH(smallest_product_loop)(x, weight, size);
}
ViolatingPair most_violating_pair(const PairArrays& rows) {
  return HWY_DYNAMIC_DISPATCH(most_violating_pair_loop)(rows);
}
void movable_rows(const PairArrays& rows, double middle, std::vector<std::size_t>& found) {
  HWY_DYNAMIC_DISPATCH(movable_rows_loop)(rows, middle, found);
}
std::size_t best_partner(const PairArrays& rows, std::size_t up, const double* k) {
  return HWY_DYNAMIC_DISPATCH(best_partner_loop)(rows, up, k);
}

}  // namespace maxmargin
#endif
