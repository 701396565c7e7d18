#include "maxmargin/solver/one_variable/violations.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/solver/one_variable/violations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace violations_loops {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> violations_of_some(D d, const VariableColumns& of, const VariablePoint& at,
                                         std::size_t v, double* slopes, double* violations) {
  const hn::RebindToSigned<D> di;
  const hn::Rebind<std::int32_t, D> d32;
  // Points are fewer than 2^31.
  const auto points =
      hn::PromoteTo(di, hn::LoadU(d32, reinterpret_cast<const std::int32_t*>(of.row.data() + v)));
  const auto a = hn::LoadU(d, at.a.data() + v);
  auto slope = hn::MulAdd(hn::LoadU(d, of.sign.data() + v), hn::GatherIndex(d, at.f.data(), points),
                          hn::LoadU(d, of.linear.data() + v));
  if (!of.curvature.empty()) slope = hn::MulAdd(hn::LoadU(d, of.curvature.data() + v), a, slope);
  for (std::size_t r = 0; r < at.price.size(); ++r)
    slope = hn::MulAdd(hn::Set(d, at.price[r]), hn::LoadU(d, of.A[r].data() + v), slope);
  const auto up = hn::IfThenElseZero(hn::Lt(a, hn::LoadU(d, of.upper.data() + v)), hn::Neg(slope));
  const auto down = hn::IfThenElseZero(hn::Gt(a, hn::LoadU(d, of.lower.data() + v)), slope);
  const auto violation = hn::Max(hn::Max(up, down), hn::Zero(d));
  hn::StoreU(slope, d, slopes + v);
  hn::StoreU(violation, d, violations + v);
  return violation;
}

double pass(const VariableColumns& of, const VariablePoint& at, std::size_t begin, std::size_t end,
            double* slopes, double* violations) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  auto largest = hn::Zero(d);
  std::size_t v = begin;
  for (; v + hn::Lanes(d) <= end; v += hn::Lanes(d))
    largest = hn::Max(largest, violations_of_some(d, of, at, v, slopes, violations));
  double result = hn::GetLane(hn::MaxOfLanes(d, largest));
  for (; v < end; ++v)
    result = std::max(result, hn::GetLane(violations_of_some(one, of, at, v, slopes, violations)));
  return result;
}

}  // namespace violations_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(pass);

VariableColumns::VariableColumns(const DualQp& qp) : row(qp.row), A(qp.A) {
  bool curved = false;
  for (const Block& block : qp.block) {
    sign.push_back(block.sign);
    linear.push_back(block.linear);
    lower.push_back(block.lower);
    upper.push_back(block.upper);
    curvature.push_back(block.curvature);
    curved |= block.curvature != 0;
  }
  if (!curved) curvature = {};
}

double find_violations(const VariableColumns& variables, const VariablePoint& point,
                       std::size_t begin, std::size_t end, double* slope, double* violation) {
  return HWY_DYNAMIC_DISPATCH(pass)(variables, point, begin, end, slope, violation);
}

}  // namespace maxmargin
#endif
