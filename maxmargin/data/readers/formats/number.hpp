#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace maxmargin {

// Scanning of numbers in text. The scanners look up to 8 bytes ahead of what they accept, so a text
// must be followed by at least `text_padding` readable bytes, and must end with a byte that belongs
// to no number (a line feed).
inline constexpr std::size_t text_padding = 32;

static_assert(std::endian::native == std::endian::little, "digits are scanned 8 at a time");

/// The digits at the front of a text, at most 8 of them.
struct Digits {
  std::uint64_t value;
  unsigned count;
};

inline Digits scan_8_digits(const char* text) {
  std::uint64_t word;
  std::memcpy(&word, text, 8);
  word ^= 0x3030303030303030u;
  // A byte is a digit if it is now at most 9: neither it nor it + 118 has the high bit.
  const std::uint64_t others =
      (word | ((word & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u)) & 0x8080808080808080u;
  const unsigned count = static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (count == 0) return {0, 0};
  word <<= 64 - 8 * count;  // leading zeros in place of the digits that are not there
  word = word * 10 + (word >> 8);
  word = (((word & 0x000000ff000000ffu) * 0x000f424000000064u) +
          (((word >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u)) >>
         32;
  return {word, count};
}

inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                           1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                           1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t integer_powers_of_ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/// Scans a decimal number of any length, correctly rounded; overflow gives infinity. Returns the
/// end, or null if there is none. "inf" and "nan" are not numbers here.
const char* scan_any_number(const char* text, double& value);

/// The same. Short numbers are exact in one operation: the digits make an integer up to 2^53, which
/// is divided by a power of ten that is a double.
[[gnu::always_inline]] inline const char* scan_number(const char* text, double& value) {
  const char* at = text;
  const bool negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  std::uint64_t mantissa = 0;
  unsigned count = 1, scale = 0;
  // "0.": a branch that is predicted is quicker than counting digits, which the rest waits for.
  if (*at != '0' || at[1] != '.') {
    const Digits whole = scan_8_digits(at);
    mantissa = whole.value;
    count = whole.count;
  }
  at += count;
  if (*at == '.') {
    const Digits decimals = scan_8_digits(++at);
    at += decimals.count;
    scale = decimals.count;
    mantissa = mantissa * integer_powers_of_ten[scale] + decimals.value;
  }
  if (count == 0 && scale == 0) return nullptr;
  // Up to 7 + 8 digits are below 2^53; more of them and exponents are rare.
  if (count == 8 || (*at | 0x20) == 'e' || static_cast<unsigned char>(*at - '0') < 10)
    return scan_any_number(text, value);
  const double size = static_cast<double>(mantissa) / powers_of_ten[scale];
  value = negative ? -size : size;
  return at;
}

/// The whole text as a number, with blanks around it allowed; infinity on overflow.
std::optional<double> number_in(std::string_view text);

/// Whether the text says that a number is missing or not finite: "", "NA", "nan", "inf", "?", ...
bool says_missing(std::string_view text);

/// A token for an error message: quoted, shortened, and escaped where it is not printable.
std::string shown(std::string_view token);

std::string_view trimmed(std::string_view text);

}  // namespace maxmargin
