#include "maxmargin/online/expansion/row_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/online/expansion/row_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace row_sums_loops {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t sums = 8;
using SumLanes = hn::CappedTag<double, sums>;

/// Adds term(k) of the last few k to the eight partial sums, and these in a fixed order.
template <class Term>
HWY_INLINE double total(double* sum, std::size_t from, std::size_t size, const Term& term) {
  for (std::size_t k = from; k < size; ++k) sum[k - from] += term(k);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

RowSums row_sums_loop(const double* w, const Index* features, const double* values,
                      std::size_t size) {
  const SumLanes d;
  const hn::RebindToSigned<SumLanes> whole;
  const hn::Rebind<std::int32_t, SumLanes> half;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<SumLanes> sum[sums], square[sums];
  for (std::size_t v = 0; v < sums / lanes; ++v) sum[v] = square[v] = hn::Zero(d);
  std::size_t k = 0;
  for (; k + sums <= size; k += sums)
    for (std::size_t v = 0; v < sums / lanes; ++v) {
      const std::size_t at = k + v * lanes;
      const auto* const index = reinterpret_cast<const std::int32_t*>(features + at);
      const auto weight = hn::GatherIndex(d, w, hn::PromoteTo(whole, hn::LoadU(half, index)));
      const auto value = hn::LoadU(d, values + at);
      sum[v] = hn::Add(sum[v], hn::Mul(weight, value));
      square[v] = hn::Add(square[v], hn::Mul(value, value));
    }
  HWY_ALIGN double parts[sums];
  for (std::size_t v = 0; v < sums / lanes; ++v) hn::Store(sum[v], d, parts + v * lanes);
  RowSums both{};
  both.weighted = total(parts, k, size, [&](std::size_t i) { return w[features[i]] * values[i]; });
  for (std::size_t v = 0; v < sums / lanes; ++v) hn::Store(square[v], d, parts + v * lanes);
  both.squares = total(parts, k, size, [&](std::size_t i) { return values[i] * values[i]; });
  return both;
}

double sum_of_squares_loop(const double* values, std::size_t size) {
  const SumLanes d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<SumLanes> sum[sums];
  for (std::size_t v = 0; v < sums / lanes; ++v) sum[v] = hn::Zero(d);
  std::size_t k = 0;
  for (; k + sums <= size; k += sums)
    for (std::size_t v = 0; v < sums / lanes; ++v) {
      const auto value = hn::LoadU(d, values + k + v * lanes);
      sum[v] = hn::Add(sum[v], hn::Mul(value, value));
    }
  HWY_ALIGN double parts[sums];
  for (std::size_t v = 0; v < sums / lanes; ++v) hn::Store(sum[v], d, parts + v * lanes);
  return total(parts, k, size, [&](std::size_t i) { return values[i] * values[i]; });
}

}  // namespace row_sums_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(row_sums_loop);
HWY_EXPORT(sum_of_squares_loop);

double weighted_sum(std::span<const double> w, const StreamRow& x) {
  std::size_t size = x.features.size();
  while (size > 0 && x.features[size - 1] >= w.size()) --size;
  return HWY_DYNAMIC_DISPATCH(row_sums_loop)(w.data(), x.features.data(), x.values.data(), size)
      .weighted;
}
RowSums row_sums(std::span<const double> w, const StreamRow& x) {
  if (!x.features.empty() && x.features.back() >= w.size())
    return {weighted_sum(w, x), sum_of_squares(x.values)};
  return HWY_DYNAMIC_DISPATCH(row_sums_loop)(w.data(), x.features.data(), x.values.data(),
                                             x.features.size());
}
double sum_of_squares(std::span<const double> values) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares_loop)(values.data(), values.size());
}

}  // namespace maxmargin
#endif
