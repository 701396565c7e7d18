#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace maxmargin {

/// exp(-rate s) of whole numbers s from 0 to 255. Distances between binary rows are such numbers:
/// a kernel row of them takes one byte a value, and a table, looked up within registers, turns them
/// into kernel values wherever those are needed.
class ByteDecay {
 public:
  explicit ByteDecay(double rate);

  double rate() const { return rate_; }
  float value(std::uint8_t distance) const { return values_[distance]; }

  /// out[i] = value(distances[i]) for i < count.
  void decode(const std::uint8_t* distances, std::size_t count, float* out) const;

  /// y[c] += sum over r of coefficients[r] * value(rows[r][c]) for c < count, in the order of the
  /// rows, in double.
  void add_scaled_rows(std::span<const std::uint8_t* const> rows,
                       std::span<const double> coefficients, std::size_t count, double* y) const;

  /// A value is a product of entries, one for each digit of s to the base of the number of lanes:
  /// tables for 16, 8 and 4 lanes.
  struct Digits {
    alignas(64) float sixteen[2][16];
    alignas(64) float eight[3][8];
    alignas(64) float four[4][4];
  };

 private:
  double rate_;
  Digits digits_;
  std::array<float, 256> values_;
};

/// out[r][at + c] = row_base[r] + column_base[first + c] - 2 sums[r * width + first + c], modulo
/// 256, for c < count: columns of a panel of that width.
void byte_distances(const std::uint8_t* sums, const std::uint8_t* row_base,
                    const std::uint8_t* column_base, std::size_t rows, std::size_t first,
                    std::size_t count, std::uint8_t* const* out, std::size_t at);

}  // namespace maxmargin
