#include "maxmargin/kernel/decay_product.hpp"

#include "maxmargin/kernel/tiles.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/decay_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "maxmargin/kernel/exponential-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t width = panel_width<float>;
using D = hn::CappedTag<float, 16>;
using V = decltype(hn::Zero(D()));

/// The rows from r on against two vectors of columns.
template <std::size_t many>
HWY_INLINE void add_rows(const float* HWY_RESTRICT panel, const DenseRows& rows, std::size_t r0,
                         const double* coefficients, double* HWY_RESTRICT y) {
  const D d;
  const hn::Repartition<double, D> dd;
  const hn::Half<D> dh;
  const std::size_t lanes = hn::Lanes(d), half = hn::Lanes(dd), features = rows.features;
  const float* HWY_RESTRICT left[many];
  V exponent[many][2];
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < many; ++r) {
    left[r] = rows.row[r0 + r];
    exponent[r][0] = exponent[r][1] = hn::Set(d, -rows.base[r0 + r]);
  }
  for (std::size_t j = 0; j < features; ++j) {
    const V column[2] = {hn::Load(d, panel + j * width), hn::Load(d, panel + j * width + lanes)};
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < many; ++r) {
      const V x = hn::Set(d, left[r][j]);
      HWY_UNROLL(2)
      for (std::size_t k = 0; k < 2; ++k) {
        const V difference = hn::Sub(column[k], x);
        exponent[r][k] = hn::NegMulAdd(difference, difference, exponent[r][k]);
      }
    }
  }
  HWY_UNROLL(2)
  for (std::size_t k = 0; k < 2; ++k) {
    auto low = hn::LoadU(dd, y + k * lanes), high = hn::LoadU(dd, y + k * lanes + half);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < many; ++r) {
      const V value = power_of_two(d, exponent[r][k]);
      const auto coefficient = hn::Set(dd, coefficients[r0 + r]);
      low = hn::MulAdd(hn::PromoteTo(dd, hn::LowerHalf(dh, value)), coefficient, low);
      high = hn::MulAdd(hn::PromoteTo(dd, hn::UpperHalf(dh, value)), coefficient, high);
    }
    hn::StoreU(low, dd, y + k * lanes);
    hn::StoreU(high, dd, y + k * lanes + half);
  }
}

void add_panel(const float* panel, const DenseRows& rows, const double* coefficients, double* y) {
  const std::size_t columns = 2 * hn::Lanes(D());
  for (std::size_t c = 0; c < width; c += columns) {
    std::size_t r = 0;
    for (; r + 4 <= rows.row.size(); r += 4) add_rows<4>(panel + c, rows, r, coefficients, y + c);
    for (; r < rows.row.size(); ++r) add_rows<1>(panel + c, rows, r, coefficients, y + c);
  }
}

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_panel);

void add_decay_product(const float* panel, const DenseRows& rows, const double* coefficients,
                       double* y) {
  HWY_DYNAMIC_DISPATCH(add_panel)(panel, rows, coefficients, y);
}

}  // namespace maxmargin
#endif
