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
HWY_INLINE void add_rows(const DecayTile& tile, const float* HWY_RESTRICT panel,
                         const DenseRows& rows, std::size_t r0, const double* coefficients,
                         double* HWY_RESTRICT y) {
  const D d;
  const hn::Repartition<double, D> dd;
  const hn::Half<D> dh;
  const std::size_t lanes = hn::Lanes(d), half = hn::Lanes(dd), features = rows.features;
  const float* HWY_RESTRICT left = rows.left + r0 * features;
  V sum[many][2];
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < many; ++r) sum[r][0] = sum[r][1] = hn::Set(d, rows.base[r0 + r]);
  for (std::size_t j = 0; j < features; ++j) {
    const V column[2] = {hn::Load(d, panel + j * width), hn::Load(d, panel + j * width + lanes)};
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < many; ++r) {
      const V x = hn::Set(d, left[r * features + j]);
      HWY_UNROLL(2)
      for (std::size_t k = 0; k < 2; ++k) {
        const V difference = hn::Sub(column[k], x);
        sum[r][k] = hn::MulAdd(difference, difference, sum[r][k]);
      }
    }
  }
  HWY_UNROLL(2)
  for (std::size_t k = 0; k < 2; ++k) {
    auto low = hn::LoadU(dd, y + k * lanes), high = hn::LoadU(dd, y + k * lanes + half);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < many; ++r) {
      const V value = tile.of_distance(d, sum[r][k]);
      const auto coefficient = hn::Set(dd, coefficients[r0 + r]);
      low = hn::MulAdd(hn::PromoteTo(dd, hn::LowerHalf(dh, value)), coefficient, low);
      high = hn::MulAdd(hn::PromoteTo(dd, hn::UpperHalf(dh, value)), coefficient, high);
    }
    hn::StoreU(low, dd, y + k * lanes);
    hn::StoreU(high, dd, y + k * lanes + half);
  }
}

void add_panel(const Decay& decay, const float* panel, const DenseRows& rows,
               const double* coefficients, double* y) {
  const DecayTile tile(decay, 1);
  const std::size_t columns = 2 * hn::Lanes(D());
  for (std::size_t c = 0; c < width; c += columns) {
    std::size_t r = 0;
    for (; r + 4 <= rows.count; r += 4) add_rows<4>(tile, panel + c, rows, r, coefficients, y + c);
    for (; r < rows.count; ++r) add_rows<1>(tile, panel + c, rows, r, coefficients, y + c);
  }
}

}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_panel);

void add_decay_product(const Decay& decay, const float* panel, const DenseRows& rows,
                       const double* coefficients, double* y) {
  HWY_DYNAMIC_DISPATCH(add_panel)(decay, panel, rows, coefficients, y);
}

}  // namespace maxmargin
#endif
