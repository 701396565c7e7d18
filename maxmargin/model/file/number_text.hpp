#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace maxmargin {

// Numbers as the text of LIBSVM's models has them. Each of these writes at `to`, where there is
// room for number_room bytes, and returns the end of what it wrote.
inline constexpr std::size_t number_room = 40;

inline char* put_whole(char* to, std::integral auto value) {
  return std::to_chars(to, to + number_room, value).ptr;
}

/// As "%.17g" prints it.
inline char* put_long(char* to, double value) {
  constexpr double most = 1e15;  // whole numbers below it have no exponent
  if (std::abs(value) < most && value == std::trunc(value))
    return put_whole(to, static_cast<std::int64_t>(value));
  return std::to_chars(to, to + number_room, value, std::chars_format::general, 17).ptr;
}

/// Eight digits, of which zeros at the end are left out.
inline char* put_decimals(char* to, std::uint32_t value) {
  static_assert(std::endian::native == std::endian::little, "the last digit is the highest byte");
  // Halves of four digits, then of two, then single ones, each half in its own part of the word:
  // x / 100 is x * 5243 / 2^19 up to 10^4, x / 10 is x * 103 / 2^10 up to 99.
  std::uint64_t word = value / 10000 | std::uint64_t{value % 10000} << 32;
  const std::uint64_t hundreds = (word * 5243 >> 19) & 0x0000007f0000007fu;
  word = hundreds | (word - 100 * hundreds) << 16;
  const std::uint64_t tens = (word * 103 >> 10) & 0x000f000f000f000fu;
  word = tens | (word - 10 * tens) << 8;
  const std::uint64_t text = word | 0x3030303030303030u;
  std::memcpy(to, &text, 8);
  return to + 8 - std::countl_zero(word) / 8;
}

/// The fewest digits that read back to the same bits, laid out as "%.8g" does where 8 suffice.
inline char* put_value(char* to, double value) {
  constexpr std::uint64_t unit = 100'000'000;
  const double size = std::abs(value);
  const bool small = size < 1e-4, large = size >= 1e8;
  if (size < 1e6 && (!small || size == 0)) {
    // A whole number below 2^53 over a power of ten is rounded once, as reading its digits is; and
    // doubles tell numbers of up to 15 digits apart, so no other ones are as short.
    const auto units = static_cast<std::uint64_t>(size * unit + 0.5);
    if (static_cast<double>(units) / unit == size) {
      if (value < 0) *to++ = '-';
      to = put_whole(to, units / unit);
      const auto decimals = static_cast<std::uint32_t>(units % unit);
      if (decimals == 0) return to;
      *to++ = '.';
      return put_decimals(to, decimals);
    }
  }
  if (!large && value == std::trunc(value)) return put_whole(to, static_cast<std::int64_t>(value));
  const auto form = small || large ? std::chars_format::scientific : std::chars_format::fixed;
  return std::to_chars(to, to + number_room, value, form).ptr;
}

}  // namespace maxmargin
