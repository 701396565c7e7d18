#include "maxmargin/solver/interior_point/path_variables.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/interior_point/path_variables.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace path_variables_loops {
namespace hn = hwy::HWY_NAMESPACE;

/// As on_path, with fewer divisions. A variable that cannot move has no width, and gives nothing.
template <class D, class Vector>
HWY_INLINE void find_some(D d, PathVariables& v, std::size_t at, double mu, Vector& values,
                          Vector& conjugates) {
  const auto lower = hn::LoadU(d, v.lower.data() + at), upper = hn::LoadU(d, v.upper.data() + at);
  const auto linear = hn::LoadU(d, v.linear.data() + at);
  const auto beyond = hn::Neg(hn::Add(hn::LoadU(d, v.h.data() + at), linear));
  const auto width = hn::Sub(upper, lower), half = hn::Mul(width, hn::Set(d, 0.5));
  const auto moves = hn::Gt(width, hn::Zero(d));
  const auto weight = hn::IfThenElse(moves, hn::Mul(width, hn::Set(d, mu)), hn::Set(d, 1));
  const auto change_of_half = hn::Mul(hn::Abs(beyond), half), square = hn::Mul(weight, weight);
  const auto root = hn::Sqrt(hn::MulAdd(change_of_half, change_of_half, square));
  const auto share = hn::Add(weight, hn::Div(square, hn::Add(root, change_of_half)));
  const auto near = hn::Div(hn::Mul(half, share), hn::Add(weight, root));
  const auto far = hn::Sub(width, near), both = hn::Mul(near, far);
  const auto squares = hn::MulAdd(near, near, hn::Mul(far, far));
  const auto rate = hn::IfThenElseZero(moves, hn::Div(both, hn::Mul(weight, squares)));
  const auto inward = hn::Mul(hn::Mul(width, hn::Sub(far, near)), rate);
  const auto high = hn::Gt(beyond, hn::Zero(d));
  const auto t = hn::IfThenElse(high, hn::Sub(upper, near), hn::Add(lower, near));
  hn::StoreU(t, d, v.t.data() + at);
  hn::StoreU(hn::Mul(both, rate), d, v.give.data() + at);
  hn::StoreU(hn::IfThenElse(high, hn::Neg(inward), inward), d, v.drift.data() + at);
  values = hn::MulAdd(linear, t, values);
  conjugates = hn::MulAdd(beyond, hn::IfThenElse(high, upper, lower), conjugates);
}

PathVariables::Sums find_all(PathVariables& variables, std::size_t count, double mu) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  auto values = hn::Zero(d), conjugates = hn::Zero(d);
  auto value = hn::Zero(one), conjugate = hn::Zero(one);
  std::size_t at = 0;
  for (; at + hn::Lanes(d) <= count; at += hn::Lanes(d))
    find_some(d, variables, at, mu, values, conjugates);
  for (; at < count; ++at) find_some(one, variables, at, mu, value, conjugate);
  return {hn::GetLane(hn::SumOfLanes(d, values)) + hn::GetLane(value),
          hn::GetLane(hn::SumOfLanes(d, conjugates)) + hn::GetLane(conjugate)};
}

}  // namespace path_variables_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(find_all);

PathVariables::Sums PathVariables::find(std::size_t count, double mu) {
  return HWY_DYNAMIC_DISPATCH(find_all)(*this, count, mu);
}

}  // namespace maxmargin
#endif
