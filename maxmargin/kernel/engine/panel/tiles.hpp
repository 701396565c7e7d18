#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "maxmargin/kernel/form.hpp"

// The innermost loops of all kernel engines, vectorised, with the instruction set chosen at run
// time (AVX-512, AVX2, SSE4 or plain). A panel holds `panel_width` neighbouring rows feature by
// feature, so that one load brings one feature of many rows and no sum runs across the lanes of a
// vector: the values do not depend on the width of the vectors.

namespace maxmargin {

/// Rows in a panel: 256 bytes a feature. Int16 panels hold pairs of neighbouring features. Binary
/// panels hold two rows a byte: row c in the low half of byte c, row c + 64 in the high one.
template <class T>
inline constexpr std::size_t panel_width = 64;
template <>
inline constexpr std::size_t panel_width<double> = 32;
template <>
inline constexpr std::size_t panel_width<std::uint8_t> = 128;

/// The most rows that one call takes: their sums (6 KB) stay in L1. A multiple of the 6 that share
/// a load of the panel, and of the rows of a group.
inline constexpr std::size_t rows_a_tile = 24;

/// What the sums are made of: the number type of a panel, and of its sums.
template <class T>
struct SumOf {
  using type = T;
};
template <>
struct SumOf<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct SumOf<std::int8_t> {
  using type = std::int32_t;
};

/// A row as the list of its non-zeros; int16 rows list pairs of features (low half first), and rows
/// of bytes are binary, so that the values are all 1 and not looked at.
template <class T>
struct ListedRow {
  const std::uint32_t* feature;
  const typename SumOf<T>::type* value;
  std::size_t count;
};

/// sums[r * width + c] = sum over the listed features j of row r of t(z_j, x_j) - t(z_j, 0),
/// z = row c of the panel; t is the term of the pairing. squared_euclidean is summed as dot.
/// Int16 and bytes know dot only; sums of bytes are taken modulo 256.
template <class T>
void list_sums(Pairing pairing, const T* panel, std::span<const ListedRow<T>> rows,
               typename SumOf<T>::type* sums);

/// The same for dot products, in blocks of features: float within a block, double between them, so
/// that rounding does not grow with the number of features. A block of the panel stays in L1 while
/// all rows use it.
void list_sums_by_blocks(const float* panel, std::span<const ListedRow<float>> rows, double* sums);
void dense_sums_by_blocks(const float* panel, std::span<const float* const> rows,
                          std::size_t features, double* sums);

/// Dot products of rows in groups: a group lists the features that any of its rows has, with
/// `rows_a_group` values each. A panel too large for L1 is read once for all of them. Double sums
/// are summed by blocks.
inline constexpr std::size_t rows_a_group = 4;
void group_sums(const float* panel, std::span<const ListedRow<float>> groups, float* sums);
void group_sums(const float* panel, std::span<const ListedRow<float>> groups, double* sums);

/// The dot products of dense rows with a panel.
template <class T>
void dense_sums(const T* panel, std::span<const T* const> rows, std::size_t features, T* sums);

/// The squared distances of dense rows from the columns of a panel, by differences: nothing
/// cancels, for twice the operations.
void difference_sums(const float* panel, std::span<const float* const> rows, std::size_t features,
                     float* sums);
void difference_sums(const double* panel, std::span<const double* const> rows, std::size_t features,
                     double* sums);

/// Sums become kernel values: out[r][at + c] = map(unit * s) for c < count, where
/// s = factor * sums[r * width + first + c] + row_base[r] + column_base[first + c].
template <class Sum>
struct Finish {
  Sum factor;
  double unit;
  const Sum* row_base;
  const Sum* column_base;
};
template <class Sum>
void finish_sums(const Map& map, const Finish<Sum>& finish, const Sum* sums, std::size_t width,
                 std::size_t rows, std::size_t first, std::size_t count, float* const* out,
                 std::size_t at);

/// y[c] += sum over r of coefficients[r] * map(factor * sums[r * 32 + c] + row_base[r] +
/// column_base[c]) for c < count <= 32, in double; a distance, which cannot be negative, is cut at
/// 0.
void add_exactly(const Map& map, bool is_distance, const Finish<double>& finish, const double* sums,
                 std::size_t rows, const double* coefficients, std::size_t count, double* y);

/// values[i] = map(values[i]) in double.
void map_exactly(const Map& map, std::span<double> values);

}  // namespace maxmargin
