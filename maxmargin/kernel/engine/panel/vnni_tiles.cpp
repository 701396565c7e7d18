#include "maxmargin/kernel/engine/panel/vnni_tiles.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <stdexcept>

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // of the header itself (GCC bug 105593)
#include <cpuid.h>
#include <hwy/targets.h>
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace maxmargin {

#if defined(__x86_64__)

bool has_vnni() {
  // Asked for when it matters: where the processor is a virtual one each such question takes tens
  // of microseconds, and the compiler's own function asks many of them when a program starts.
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return (hwy::SupportedTargets() & HWY_AVX3) != 0 && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (c & bit_AVX512VNNI) != 0;
  }();
  return has;
}

// The vector library this project builds on has no such operation yet.
__attribute__((target("avx512f,avx512vnni"))) void quad_sums(
    const std::int8_t* panel, std::span<const ListedRow<std::int8_t>> rows, std::int32_t* sums) {
  constexpr std::size_t width = panel_width<std::int8_t>, slot = 4 * width;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const ListedRow<std::int8_t>& row = rows[r];
    // Two sets of accumulators (odd and even features) hide the latency of the additions.
    __m512i a0 = _mm512_setzero_si512(), a1 = a0, a2 = a0, a3 = a0;
    __m512i b0 = a0, b1 = a0, b2 = a0, b3 = a0;
    std::size_t k = 0;
    for (; k + 2 <= row.count; k += 2) {
      const std::int8_t* z = panel + static_cast<std::size_t>(row.feature[k]) * slot;
      const __m512i x = _mm512_set1_epi32(row.value[k]);
      a0 = _mm512_dpbusd_epi32(a0, x, _mm512_load_si512(z));
      a1 = _mm512_dpbusd_epi32(a1, x, _mm512_load_si512(z + 64));
      a2 = _mm512_dpbusd_epi32(a2, x, _mm512_load_si512(z + 128));
      a3 = _mm512_dpbusd_epi32(a3, x, _mm512_load_si512(z + 192));
      const std::int8_t* z2 = panel + static_cast<std::size_t>(row.feature[k + 1]) * slot;
      const __m512i x2 = _mm512_set1_epi32(row.value[k + 1]);
      b0 = _mm512_dpbusd_epi32(b0, x2, _mm512_load_si512(z2));
      b1 = _mm512_dpbusd_epi32(b1, x2, _mm512_load_si512(z2 + 64));
      b2 = _mm512_dpbusd_epi32(b2, x2, _mm512_load_si512(z2 + 128));
      b3 = _mm512_dpbusd_epi32(b3, x2, _mm512_load_si512(z2 + 192));
    }
    if (k < row.count) {
      const std::int8_t* z = panel + static_cast<std::size_t>(row.feature[k]) * slot;
      const __m512i x = _mm512_set1_epi32(row.value[k]);
      a0 = _mm512_dpbusd_epi32(a0, x, _mm512_load_si512(z));
      a1 = _mm512_dpbusd_epi32(a1, x, _mm512_load_si512(z + 64));
      a2 = _mm512_dpbusd_epi32(a2, x, _mm512_load_si512(z + 128));
      a3 = _mm512_dpbusd_epi32(a3, x, _mm512_load_si512(z + 192));
    }
    std::int32_t* out = sums + r * width;
    _mm512_store_si512(out, _mm512_add_epi32(a0, b0));
    _mm512_store_si512(out + 16, _mm512_add_epi32(a1, b1));
    _mm512_store_si512(out + 32, _mm512_add_epi32(a2, b2));
    _mm512_store_si512(out + 48, _mm512_add_epi32(a3, b3));
  }
}

namespace {

// A part of a panel of so many slots, 16 KB, stays in L1 while all rows use it.
constexpr std::size_t slots_a_part = 64;

// The slots [first, end) of a panel. `rows_at_once` rows share its loads.
template <std::size_t rows_at_once>
__attribute__((target("avx512f,avx512vnni"))) void some_pair_rows(const std::int16_t* panel,
                                                                  const std::int16_t* const* rows,
                                                                  std::size_t first,
                                                                  std::size_t end,
                                                                  std::int32_t* sums) {
  constexpr std::size_t width = panel_width<std::int16_t>, vectors = width / 16;
  const std::int16_t* row[rows_at_once];
  __m512i sum[rows_at_once][vectors];
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows_at_once; ++r) {
    row[r] = rows[r];
#pragma GCC unroll 4
    for (std::size_t k = 0; k < vectors; ++k)
      sum[r][k] =
          first == 0 ? _mm512_setzero_si512() : _mm512_load_si512(sums + r * width + k * 16);
  }
  for (std::size_t j = first; j < end; ++j) {
    const std::int16_t* z = panel + j * width * 2;
    __m512i column[vectors];
#pragma GCC unroll 4
    for (std::size_t k = 0; k < vectors; ++k) {
      column[k] = _mm512_load_si512(z + k * 32);
      // Stays in its register: some compilers would load it again for each row.
      asm("" : "+v"(column[k]));
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < rows_at_once; ++r) {
      std::int32_t pair = 0;
      std::memcpy(&pair, row[r] + j * 2, sizeof(pair));
      const __m512i x = _mm512_set1_epi32(pair);
#pragma GCC unroll 4
      for (std::size_t k = 0; k < vectors; ++k)
        sum[r][k] = _mm512_dpwssd_epi32(sum[r][k], column[k], x);
    }
  }
#pragma GCC unroll 8
  for (std::size_t r = 0; r < rows_at_once; ++r)
#pragma GCC unroll 4
    for (std::size_t k = 0; k < vectors; ++k)
      _mm512_store_si512(sums + r * width + k * 16, sum[r][k]);
}

// By the number of rows; more would not leave their sums in registers.
constexpr decltype(&some_pair_rows<1>) pair_rows[] = {some_pair_rows<1>, some_pair_rows<2>,
                                                      some_pair_rows<3>, some_pair_rows<4>,
                                                      some_pair_rows<5>, some_pair_rows<6>};
constexpr std::size_t most_at_once = std::size(pair_rows);

}  // namespace

void dense_pair_sums(const std::int16_t* panel, std::span<const std::int16_t* const> rows,
                     std::size_t slots, std::int32_t* sums) {
  constexpr std::size_t width = panel_width<std::int16_t>;
  for (std::size_t first = 0; first == 0 || first < slots; first += slots_a_part) {
    const std::size_t end = std::min(first + slots_a_part, slots);
    for (std::size_t r = 0; r < rows.size();) {
      // As even as possible: few rows at a time do not hide the latency of the additions.
      const std::size_t left = rows.size() - r, groups = (left + most_at_once - 1) / most_at_once;
      const std::size_t some = (left + groups - 1) / groups;
      pair_rows[some - 1](panel, rows.data() + r, first, end, sums + r * width);
      r += some;
    }
  }
}

#else

bool has_vnni() { return false; }

void dense_pair_sums(const std::int16_t*, std::span<const std::int16_t* const>, std::size_t,
                     std::int32_t*) {
  throw std::logic_error("this processor has no VNNI");
}

void quad_sums(const std::int8_t*, std::span<const ListedRow<std::int8_t>>, std::int32_t*) {
  throw std::logic_error("this processor has no VNNI");
}

#endif

}  // namespace maxmargin
