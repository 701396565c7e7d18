#include "maxmargin/kernel/decay_product.hpp"

#include "maxmargin/kernel/tiles.hpp"

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

/// The rows from r0 on against two vectors of columns; the sums of rows too, where they are wanted.
template <std::size_t many, bool of_rows>
HWY_INLINE void add_rows(const float* HWY_RESTRICT panel, const DenseRows& rows, std::size_t r0,
                         const double* coefficients, const double* x, double* HWY_RESTRICT y,
                         double* HWY_RESTRICT sums) {
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
      const V feature = hn::Set(d, left[r][j]);
      HWY_UNROLL(2)
      for (std::size_t k = 0; k < 2; ++k) {
        const V difference = hn::Sub(column[k], feature);
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
      const auto lower = hn::PromoteTo(dd, hn::LowerHalf(dh, value));
      const auto upper = hn::PromoteTo(dd, hn::UpperHalf(dh, value));
      low = hn::MulAdd(lower, coefficient, low);
      high = hn::MulAdd(upper, coefficient, high);
      if constexpr (of_rows) {
        // Two places of as many columns are one where a vector has eight doubles.
        double* first = sums + (r0 + r) * lanes_of_sums + k * lanes % lanes_of_sums;
        double* second = sums + (r0 + r) * lanes_of_sums + (k * lanes + half) % lanes_of_sums;
        hn::StoreU(hn::MulAdd(lower, hn::LoadU(dd, x + k * lanes), hn::LoadU(dd, first)), dd,
                   first);
        hn::StoreU(hn::MulAdd(upper, hn::LoadU(dd, x + k * lanes + half), hn::LoadU(dd, second)),
                   dd, second);
      }
    }
    hn::StoreU(low, dd, y + k * lanes);
    hn::StoreU(high, dd, y + k * lanes + half);
  }
}

template <bool of_rows>
HWY_INLINE void add_all(const float* panel, const DenseRows& rows, const double* coefficients,
                        const double* x, double* y, double* sums) {
  const std::size_t columns = 2 * hn::Lanes(D()), count = rows.row.size();
  for (std::size_t c = 0; c < width; c += columns) {
    std::size_t r = 0;
    for (; r + 4 <= count; r += 4)
      add_rows<4, of_rows>(panel + c, rows, r, coefficients, x + c, y + c, sums);
    for (; r < count; ++r)
      add_rows<1, of_rows>(panel + c, rows, r, coefficients, x + c, y + c, sums);
  }
}

void add_panel(const float* panel, const DenseRows& rows, const double* coefficients, double* y) {
  add_all<false>(panel, rows, coefficients, y, y, nullptr);
}
void add_both(const float* panel, const DenseRows& rows, const double* coefficients,
              const double* x, double* y, double* sums) {
  add_all<true>(panel, rows, coefficients, x, y, sums);
}

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_panel);
HWY_EXPORT(add_both);

void add_decay_product(const float* panel, const DenseRows& rows, const double* coefficients,
                       double* y) {
  HWY_DYNAMIC_DISPATCH(add_panel)(panel, rows, coefficients, y);
}

void add_decay_products(const float* panel, const DenseRows& rows, const double* coefficients,
                        const double* x, double* y, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_both)(panel, rows, coefficients, x, y, sums);
}

}  // namespace maxmargin
#endif
