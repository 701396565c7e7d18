#include "maxmargin/kernel/engine/dense_values.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/engine/dense_values.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace dense_values_loops {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const double* values) {
  return hn::LoadU(d, values);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* values) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), values));
}

/// What is known of the values that stand in the same lane.
template <class D>
struct LaneExtents {
  hn::Vec<D> norm, smallest, largest, lowest;
  std::size_t nonzeros = 0;

  HWY_INLINE explicit LaneExtents(D d)
      : norm(hn::Zero(d)),
        smallest(hn::Set(d, std::numeric_limits<double>::infinity())),
        largest(hn::Zero(d)),
        lowest(hn::Zero(d)) {}

  HWY_INLINE void add(D d, hn::Vec<D> value) {
    const auto size = hn::Abs(value);
    const auto is_zero = hn::Eq(size, hn::Zero(d));
    norm = hn::MulAdd(value, value, norm);
    smallest = hn::Min(smallest, hn::IfThenElse(is_zero, smallest, size));
    largest = hn::Max(largest, size);
    lowest = hn::Min(lowest, value);
    nonzeros += hn::Lanes(d) - hn::CountTrue(d, is_zero);
  }

  HWY_INLINE void put(D d, DenseExtent& to) const {
    to.norm += hn::GetLane(hn::SumOfLanes(d, norm));
    to.smallest = std::min(to.smallest, hn::GetLane(hn::MinOfLanes(d, smallest)));
    to.largest = std::max(to.largest, hn::GetLane(hn::MaxOfLanes(d, largest)));
    to.lowest = std::min(to.lowest, hn::GetLane(hn::MinOfLanes(d, lowest)));
    to.nonzeros += nonzeros;
  }
};

template <class Value>
HWY_INLINE DenseExtent extent_of(const Value* values, std::size_t count) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  LaneExtents lanes(d);
  LaneExtents rest(one);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) lanes.add(d, load(d, values + i));
  for (; i < count; ++i) rest.add(one, load(one, values + i));
  DenseExtent extent{.smallest = std::numeric_limits<double>::infinity()};
  lanes.put(d, extent);
  rest.put(one, extent);
  return extent;
}
DenseExtent extent_of_doubles(const double* values, std::size_t count) {
  return extent_of(values, count);
}
DenseExtent extent_of_floats(const float* values, std::size_t count) {
  return extent_of(values, count);
}

template <class D>
struct LaneUnits {
  hn::Vec<D> norm, unit_norm;
  bool fit = true;

  HWY_INLINE explicit LaneUnits(D d) : norm(hn::Zero(d)), unit_norm(hn::Zero(d)) {}

  /// As Unit::divides.
  HWY_INLINE void add(D d, hn::Vec<D> value, const Unit& unit, std::int16_t* to) {
    const auto units = hn::Round(hn::Mul(value, hn::Set(d, unit.inverse)));
    const auto allowed =
        hn::Max(hn::Set(d, unit.slack), hn::Mul(hn::Set(d, Unit::relative_slack), hn::Abs(value)));
    const auto deviation = hn::Abs(hn::Sub(value, hn::Mul(units, hn::Set(d, unit.size))));
    fit &= hn::AllTrue(
        d, hn::And(hn::Le(hn::Abs(units), hn::Set(d, Unit::most)), hn::Le(deviation, allowed)));
    norm = hn::MulAdd(value, value, norm);
    unit_norm = hn::MulAdd(units, units, unit_norm);
    if (to == nullptr) return;
    const hn::Rebind<std::int32_t, D> d32;
    const hn::Rebind<std::int16_t, D> d16;
    hn::StoreU(hn::DemoteTo(d16, hn::DemoteTo(d32, units)), d16, to);
  }
};

template <class Value>
HWY_INLINE WholeNumbers whole_numbers_of(const Value* values, std::size_t count, const Unit& unit,
                                         std::int16_t* units) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  LaneUnits lanes(d);
  LaneUnits rest(one);
  const auto to = [&](std::size_t i) { return units == nullptr ? nullptr : units + i; };
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
    lanes.add(d, load(d, values + i), unit, to(i));
  for (; i < count; ++i) rest.add(one, load(one, values + i), unit, to(i));
  return {lanes.fit && rest.fit,
          hn::GetLane(hn::SumOfLanes(d, lanes.norm)) + hn::GetLane(rest.norm),
          hn::GetLane(hn::SumOfLanes(d, lanes.unit_norm)) + hn::GetLane(rest.unit_norm)};
}
WholeNumbers whole_numbers_of_doubles(const double* values, std::size_t count, const Unit& unit,
                                      std::int16_t* units) {
  return whole_numbers_of(values, count, unit, units);
}
WholeNumbers whole_numbers_of_floats(const float* values, std::size_t count, const Unit& unit,
                                     std::int16_t* units) {
  return whole_numbers_of(values, count, unit, units);
}

}  // namespace dense_values_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {
HWY_EXPORT(extent_of_doubles);
HWY_EXPORT(extent_of_floats);
HWY_EXPORT(whole_numbers_of_doubles);
HWY_EXPORT(whole_numbers_of_floats);

DenseExtent dense_extent(const double* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(extent_of_doubles)(values, count);
}
DenseExtent dense_extent(const float* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(extent_of_floats)(values, count);
}
WholeNumbers whole_numbers(const double* values, std::size_t count, const Unit& unit,
                           std::int16_t* units) {
  return HWY_DYNAMIC_DISPATCH(whole_numbers_of_doubles)(values, count, unit, units);
}
WholeNumbers whole_numbers(const float* values, std::size_t count, const Unit& unit,
                           std::int16_t* units) {
  return HWY_DYNAMIC_DISPATCH(whole_numbers_of_floats)(values, count, unit, units);
}

}  // namespace maxmargin
#endif
