#include "maxmargin/kernel/engine/product/decay_product.hpp"

#include "maxmargin/kernel/engine/panel/tiles.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/kernel/engine/product/decay_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "maxmargin/kernel/engine/product/exponential-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace decay_product_loops {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t width = panel_width<float>;
using D = hn::CappedTag<float, 16>;
using DD = hn::Repartition<double, D>;
using V = decltype(hn::Zero(D()));
using VD = decltype(hn::Zero(DD()));

/// Minus half of the squares of the columns of a panel. Summed in double, as those of rows are: a
/// point that rounds alike as a row and as a column is at fault by a factor only, which sums of
/// both signs bear.
HWY_INLINE void find_squares(const float* HWY_RESTRICT panel, std::size_t features, float* own) {
  const DD dd;
  const hn::Rebind<float, DD> df;
  for (std::size_t c = 0; c < width; c += hn::Lanes(dd)) {
    VD sum = hn::Zero(dd);
    for (std::size_t j = 0; j < features; ++j) {
      const VD value = hn::PromoteTo(dd, hn::Load(df, panel + j * width + c));
      sum = hn::MulAdd(value, value, sum);
    }
    hn::Store(hn::DemoteTo(df, hn::Mul(hn::Set(dd, -0.5), sum)), df, own + c);
  }
}

/// The rows from r0 on against all columns; the sums of rows too, where they are wanted.
template <std::size_t many, bool of_rows, bool by_products>
HWY_INLINE void add_decay_rows(const float* HWY_RESTRICT panel, const DecayRows& rows,
                               std::size_t r0, const float* HWY_RESTRICT own,
                               const double* HWY_RESTRICT x, double* HWY_RESTRICT y,
                               double* HWY_RESTRICT sums) {
  const D d;
  const DD dd;
  const hn::Half<D> dh;
  const std::size_t lanes = hn::Lanes(d), half = hn::Lanes(dd), features = rows.features;
  const float* HWY_RESTRICT left[many];
  VD sum[many];
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < many; ++r) {
    left[r] = rows.row[r0 + r];
    sum[r] = hn::Zero(dd);
  }
  for (std::size_t c = 0; c < width; c += 2 * lanes) {
    V exponent[many][2];
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < many; ++r)
      exponent[r][0] = exponent[r][1] = by_products ? hn::Zero(d) : hn::Set(d, rows.own[r0 + r]);
    for (std::size_t j = 0; j < features; ++j) {
      const float* HWY_RESTRICT at = panel + j * width + c;
      const V column[2] = {hn::Load(d, at), hn::Load(d, at + lanes)};
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < many; ++r) {
        const V feature = hn::Set(d, left[r][j]);
        HWY_UNROLL(2)
        for (std::size_t k = 0; k < 2; ++k) {
          const V by = by_products ? feature : hn::Sub(column[k], feature);
          exponent[r][k] = by_products ? hn::MulAdd(column[k], by, exponent[r][k])
                                       : hn::NegMulAdd(by, by, exponent[r][k]);
        }
      }
    }
    HWY_UNROLL(2)
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t here = c + k * lanes;
      [[maybe_unused]] V own_c = hn::Zero(d);
      if constexpr (by_products) own_c = hn::Load(d, own + here);
      VD low = hn::LoadU(dd, y + here), high = hn::LoadU(dd, y + here + half);
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < many; ++r) {
        // Squares last: products of points that are far apart are small, and lose little.
        if constexpr (by_products)
          exponent[r][k] = hn::Add(exponent[r][k], hn::Add(own_c, hn::Set(d, rows.own[r0 + r])));
        const V value = power_of_two(d, exponent[r][k]);
        const VD coefficient = hn::Set(dd, rows.coefficient[r0 + r]);
        const VD lower = hn::PromoteTo(dd, hn::LowerHalf(dh, value));
        const VD upper = hn::PromoteTo(dd, hn::UpperHalf(dh, value));
        low = hn::MulAdd(lower, coefficient, low);
        high = hn::MulAdd(upper, coefficient, high);
        if constexpr (of_rows) {
          sum[r] = hn::MulAdd(lower, hn::LoadU(dd, x + here), sum[r]);
          sum[r] = hn::MulAdd(upper, hn::LoadU(dd, x + here + half), sum[r]);
        }
      }
      hn::StoreU(low, dd, y + here);
      hn::StoreU(high, dd, y + here + half);
    }
  }
  if constexpr (of_rows) {
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < many; ++r) {
      double* to = sums + (r0 + r) * lanes_of_sums;
      hn::StoreU(hn::Add(hn::LoadU(dd, to), sum[r]), dd, to);
    }
  }
}

template <bool of_rows, bool by_products>
HWY_INLINE void add_all(const float* panel, const DecayRows& rows, const double* x, double* y,
                        double* sums) {
  alignas(64) float own[width];
  if constexpr (by_products) find_squares(panel, rows.features, own);
  const std::size_t count = rows.row.size();
  std::size_t r = 0;
  for (; r + 4 <= count; r += 4)
    add_decay_rows<4, of_rows, by_products>(panel, rows, r, own, x, y, sums);
  for (; r < count; ++r) add_decay_rows<1, of_rows, by_products>(panel, rows, r, own, x, y, sums);
}

void add_panel(const float* panel, const DecayRows& rows, double* y) {
  if (rows.by_products)
    add_all<false, true>(panel, rows, nullptr, y, nullptr);
  else
    add_all<false, false>(panel, rows, nullptr, y, nullptr);
}
void add_both(const float* panel, const DecayRows& rows, const double* x, double* y, double* sums) {
  if (rows.by_products)
    add_all<true, true>(panel, rows, x, y, sums);
  else
    add_all<true, false>(panel, rows, x, y, sums);
}

}  // namespace decay_product_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(add_panel);
HWY_EXPORT(add_both);

DecayRows::DecayRows(std::span<const float* const> rows, std::span<const float> base,
                     std::size_t feature_count, std::span<const double> coefficients,
                     bool from_products)
    : row(rows),
      features(feature_count),
      coefficient(coefficients),
      by_products(from_products),
      own(rows.size()) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    own[r] = -base[r];
    if (!by_products) continue;
    double squares = static_cast<double>(base[r]);
    for (std::size_t j = 0; j < features; ++j)
      squares += static_cast<double>(rows[r][j]) * static_cast<double>(rows[r][j]);
    own[r] = static_cast<float>(-0.5 * squares);
  }
}

void add_decay_product(const float* panel, const DecayRows& rows, double* y) {
  HWY_DYNAMIC_DISPATCH(add_panel)(panel, rows, y);
}

void add_decay_products(const float* panel, const DecayRows& rows, const double* x, double* y,
                        double* sums) {
  HWY_DYNAMIC_DISPATCH(add_both)(panel, rows, x, y, sums);
}

}  // namespace maxmargin
#endif
