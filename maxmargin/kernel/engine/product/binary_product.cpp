#include "maxmargin/kernel/engine/product/binary_product.hpp"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // of the header itself (GCC bug 105593)
#include <hwy/targets.h>
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace maxmargin {
namespace {

constexpr std::size_t width = panel_width<std::uint8_t>, half = width / 2;
constexpr std::size_t features_a_half_byte = 15;
constexpr std::size_t rows_at_once = 8;
// Exponentials of this and of its opposite, and their products, are within the range of a double.
constexpr double largest_exponent = 300;

#if defined(__x86_64__)

/// The common features of some rows and all columns, and what the rows count.
struct Counts {
  alignas(64) std::uint8_t common[rows_at_once][width];
  double weight[rows_at_once];
};

// The vector library this project builds on has no table of 16 doubles.
#define MAXMARGIN_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

/// Whether some count needs more than half a byte.
MAXMARGIN_AVX512 inline __attribute__((always_inline)) bool count(
    const std::uint8_t* panel, std::span<const std::uint16_t> features, std::uint8_t* common) {
  const __m512i mask = _mm512_set1_epi8(0x0f);
  __m512i low = _mm512_setzero_si512(), high = low;
  for (std::size_t k = 0; k < features.size();) {
    const std::size_t end = std::min(features.size(), k + features_a_half_byte);
    __m512i even = _mm512_setzero_si512(), odd = even;
    for (; k + 2 <= end; k += 2) {
      even = _mm512_add_epi8(even, _mm512_load_si512(panel + features[k] * half));
      odd = _mm512_add_epi8(odd, _mm512_load_si512(panel + features[k + 1] * half));
    }
    if (k < end) even = _mm512_add_epi8(even, _mm512_load_si512(panel + features[k++] * half));
    const __m512i both = _mm512_add_epi8(even, odd);
    low = _mm512_add_epi8(low, _mm512_and_si512(both, mask));
    high = _mm512_add_epi8(high, _mm512_and_si512(_mm512_srli_epi16(both, 4), mask));
  }
  _mm512_store_si512(common, low);
  _mm512_store_si512(common + half, high);
  return _mm512_test_epi8_mask(_mm512_or_si512(low, high), _mm512_set1_epi8(-16)) != 0;
}

/// With one digit where no count has two.
template <bool two_digits>
MAXMARGIN_AVX512 void add_counts(const Counts& counts, const double* low, const double* high,
                                 double* sums) {
  const __m512d low0 = _mm512_load_pd(low), low1 = _mm512_load_pd(low + 8);
  const __m512d high0 = _mm512_load_pd(high), high1 = _mm512_load_pd(high + 8);
  __m512d weight[rows_at_once];
  for (std::size_t r = 0; r < rows_at_once; ++r) weight[r] = _mm512_set1_pd(counts.weight[r]);
  for (std::size_t c = 0; c < width; c += 8) {
    __m512d sum = _mm512_load_pd(sums + c);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows_at_once; ++r) {
      const __m512i common = _mm512_cvtepu8_epi64(
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(counts.common[r] + c)));
      __m512d value = _mm512_permutex2var_pd(low0, common, low1);
      if constexpr (two_digits)
        value = _mm512_mul_pd(value,
                              _mm512_permutex2var_pd(high0, _mm512_srli_epi64(common, 4), high1));
      sum = _mm512_fmadd_pd(value, weight[r], sum);
    }
    _mm512_store_pd(sums + c, sum);
  }
}

#endif

}  // namespace

bool BinaryProduct::is_possible(double rate, std::size_t features) {
  return features <= 65536 && rate * 255 <= largest_exponent;
}

bool BinaryProduct::pays() {
#if defined(__x86_64__)
  return (hwy::SupportedTargets() & HWY_AVX3) != 0;
#else
  return false;
#endif
}

BinaryProduct::BinaryProduct(double rate) : rate_(rate) {
  for (std::size_t s = 0; s < falling_.size(); ++s)
    falling_[s] = std::exp(-rate * static_cast<double>(s));
  for (std::size_t k = 0; k < low_.size(); ++k) {
    low_[k] = std::exp(2 * rate * static_cast<double>(k));
    high_[k] = std::exp(32 * rate * static_cast<double>(k));
  }
}

BinaryRows BinaryProduct::rows(std::span<const ListedRow<std::uint8_t>> lists,
                               std::span<const std::uint8_t> base,
                               std::span<const double> coefficients) const {
  BinaryRows rows;
  for (std::size_t r = 0; r < lists.size(); ++r) {
    for (std::size_t k = 0; k < lists[r].count; ++k)
      rows.features.push_back(static_cast<std::uint16_t>(lists[r].feature[k]));
    rows.begin.push_back(static_cast<std::uint32_t>(rows.features.size()));
    rows.weight.push_back(coefficients[r] * falling_[base[r]]);
  }
  return rows;
}

void BinaryProduct::add(const std::uint8_t* panel, const std::uint8_t* column_base,
                        const BinaryRows& rows, double* y) const {
  if (pays())
    add_vectors(panel, column_base, rows, y);
  else
    add_plainly(panel, column_base, rows, y);
}

void BinaryProduct::add_plainly(const std::uint8_t* panel, const std::uint8_t* column_base,
                                const BinaryRows& rows, double* y) const {
  for (std::size_t c = 0; c < width; ++c) {
    const unsigned bit = c < half ? 0x01 : 0x10;
    double sum = 0;
    for (std::size_t r = 0; r < rows.weight.size(); ++r) {
      std::size_t common = 0;
      for (std::size_t k = rows.begin[r]; k < rows.begin[r + 1]; ++k)
        common += (panel[rows.features[k] * half + c % half] & bit) != 0;
      sum += rows.weight[r] * low_[common % 16] * high_[common / 16];
    }
    y[c] += falling_[column_base[c]] * sum;
  }
}

#if defined(__x86_64__)

MAXMARGIN_AVX512 void BinaryProduct::add_vectors(const std::uint8_t* panel,
                                                 const std::uint8_t* column_base,
                                                 const BinaryRows& rows, double* y) const {
  alignas(64) double sums[width] = {};
  Counts counts{};
  const std::span<const std::uint16_t> features(rows.features);
  for (std::size_t first = 0; first < rows.weight.size(); first += rows_at_once) {
    const std::size_t some = std::min(rows_at_once, rows.weight.size() - first);
    bool is_large = false;
    for (std::size_t r = 0; r < some; ++r) {
      const std::size_t begin = rows.begin[first + r];
      is_large |= count(panel, features.subspan(begin, rows.begin[first + r + 1] - begin),
                        counts.common[r]);
      counts.weight[r] = rows.weight[first + r];
    }
    // Rows that are missing at the end count nothing.
    std::fill(counts.weight + some, counts.weight + rows_at_once, 0.0);
    (is_large ? add_counts<true> : add_counts<false>)(counts, low_.data(), high_.data(), sums);
  }
  for (std::size_t c = 0; c < width; ++c) y[c] += falling_[column_base[c]] * sums[c];
}

#else

void BinaryProduct::add_vectors(const std::uint8_t* panel, const std::uint8_t* column_base,
                                const BinaryRows& rows, double* y) const {
  add_plainly(panel, column_base, rows, y);
}

#endif

}  // namespace maxmargin
