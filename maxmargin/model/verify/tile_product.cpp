#include "maxmargin/model/verify/tile_product.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "maxmargin/model/verify/tile_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace maxmargin::HWY_NAMESPACE {
inline namespace tile_product_loops {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Vector = hn::Vec<Doubles>;

HWY_INLINE Vector load(const double* from) { return hn::LoadU(Doubles(), from); }
HWY_INLINE Vector load(const float* from) {
  const hn::Rebind<float, Doubles> floats;
  return hn::PromoteTo(Doubles(), hn::LoadU(floats, from));
}

// A block of entries at a time, so that each loaded vector serves several products. Every entry is
// summed in the same order, by the same fused operations, whatever the shape of its block. Only
// unrolled do the sums stay in registers.
template <std::size_t R, std::size_t S>
struct Sums {
  Vector sum[R][S];

  template <class Value>
  HWY_INLINE void add(const Value* tile, std::size_t tile_stride, const double* matrix,
                      std::size_t matrix_stride) {
    Vector right[S];
    HWY_UNROLL(4)
    for (std::size_t s = 0; s < S; ++s) right[s] = load(matrix + s * matrix_stride);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < R; ++r) {
      const Vector left = load(tile + r * tile_stride);
      HWY_UNROLL(4)
      for (std::size_t s = 0; s < S; ++s) sum[r][s] = hn::MulAdd(left, right[s], sum[r][s]);
    }
  }
};

template <std::size_t R, std::size_t S, class Value>
HWY_INLINE void block(const Value* tile, std::size_t tile_stride, const double* matrix,
                      std::size_t matrix_stride, std::size_t count, double* out,
                      std::size_t out_stride) {
  const Doubles tag;
  constexpr std::size_t lanes = hn::MaxLanes(Doubles());
  Sums<R, S> sums;
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (std::size_t s = 0; s < S; ++s) sums.sum[r][s] = hn::Zero(tag);
  }
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) sums.add(tile + k, tile_stride, matrix + k, matrix_stride);
  if (k < count) {
    Value left[R * lanes] = {};
    double right[S * lanes] = {};
    for (std::size_t i = 0; i < count - k; ++i) {
      for (std::size_t r = 0; r < R; ++r) left[r * lanes + i] = tile[r * tile_stride + k + i];
      for (std::size_t s = 0; s < S; ++s) right[s * lanes + i] = matrix[s * matrix_stride + k + i];
    }
    sums.add(left, lanes, right, lanes);
  }
  HWY_UNROLL(4)
  for (std::size_t r = 0; r < R; ++r) {
    HWY_UNROLL(4)
    for (std::size_t s = 0; s < S; ++s)
      out[r * out_stride + s] = hn::GetLane(hn::SumOfLanes(tag, sums.sum[r][s]));
  }
}

template <std::size_t S, class Value>
HWY_INLINE void columns(const Value* tile, std::size_t tile_stride, std::size_t rows,
                        const double* matrix, std::size_t matrix_stride, std::size_t count,
                        double* out, std::size_t out_stride) {
  std::size_t r = 0;
  for (; r + 4 <= rows; r += 4)
    block<4, S>(tile + r * tile_stride, tile_stride, matrix, matrix_stride, count,
                out + r * out_stride, out_stride);
  for (; r < rows; ++r)
    block<1, S>(tile + r * tile_stride, tile_stride, matrix, matrix_stride, count,
                out + r * out_stride, out_stride);
}

template <class Value>
void product(const Value* tile, std::size_t tile_stride, std::size_t rows, const double* matrix,
             std::size_t matrix_stride, std::size_t many, std::size_t count, double* out) {
  std::size_t s = 0;
  for (; s + 3 <= many; s += 3)
    columns<3>(tile, tile_stride, rows, matrix + s * matrix_stride, matrix_stride, count, out + s,
               many);
  for (; s < many; ++s)
    columns<1>(tile, tile_stride, rows, matrix + s * matrix_stride, matrix_stride, count, out + s,
               many);
}

void product_of_floats(const float* tile, std::size_t tile_stride, std::size_t rows,
                       const double* matrix, std::size_t matrix_stride, std::size_t many,
                       std::size_t count, double* out) {
  product(tile, tile_stride, rows, matrix, matrix_stride, many, count, out);
}
void product_of_doubles(const double* tile, std::size_t tile_stride, std::size_t rows,
                        const double* matrix, std::size_t matrix_stride, std::size_t many,
                        std::size_t count, double* out) {
  product(tile, tile_stride, rows, matrix, matrix_stride, many, count, out);
}

float largest_of(const float* values, std::size_t count) {
  const hn::ScalableTag<float> tag;
  auto most = hn::Zero(tag);
  std::size_t k = 0;
  for (; k + hn::Lanes(tag) <= count; k += hn::Lanes(tag))
    most = hn::Max(most, hn::Abs(hn::LoadU(tag, values + k)));
  float result = hn::GetLane(hn::MaxOfLanes(tag, most));
  for (; k < count; ++k) {
    const float size = values[k] < 0 ? -values[k] : values[k];
    if (size > result) result = size;
  }
  return result;
}

}  // namespace tile_product_loops
}  // namespace maxmargin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace maxmargin {

HWY_EXPORT(product_of_floats);
HWY_EXPORT(product_of_doubles);
HWY_EXPORT(largest_of);

void tile_product(const float* tile, std::size_t tile_stride, std::size_t rows,
                  const double* matrix, std::size_t matrix_stride, std::size_t many,
                  std::size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(product_of_floats)
  (tile, tile_stride, rows, matrix, matrix_stride, many, count, out);
}

void tile_product(const double* tile, std::size_t tile_stride, std::size_t rows,
                  const double* matrix, std::size_t matrix_stride, std::size_t many,
                  std::size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(product_of_doubles)
  (tile, tile_stride, rows, matrix, matrix_stride, many, count, out);
}

float largest(const float* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(largest_of)(values, count);
}

}  // namespace maxmargin
#endif
