#include "maxmargin/data/readers/formats/number.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>

namespace maxmargin {
namespace {

bool is_decimal_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

const char* skip_digits(const char* at) {
  while (is_decimal_digit(*at)) ++at;
  return at;
}

}  // namespace

const char* scan_any_number(const char* text, double& value) {
  const char* first = text;
  if (*first == '+') ++first;
  const char* at = *first == '-' && first == text ? first + 1 : first;
  const char* whole_end = skip_digits(at);
  std::ptrdiff_t digits = whole_end - at;
  at = whole_end;
  if (*at == '.') {
    const char* end = skip_digits(at + 1);
    digits += end - at - 1;
    at = end;
  }
  if (digits == 0) return nullptr;
  if (*at == 'e' || *at == 'E') {
    const char* exponent = at + 1;
    if (*exponent == '-' || *exponent == '+') ++exponent;
    if (!is_decimal_digit(*exponent)) return nullptr;
    at = skip_digits(exponent);
  }
  const auto result = fast_float::from_chars(first, at, value);
  return result.ptr == at ? at : nullptr;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  std::array<char, 64> few;
  std::string many;
  const char* padded = nullptr;
  if (text.size() < few.size()) {
    *std::copy(text.begin(), text.end(), few.begin()) = '\n';
    padded = few.data();
  } else {
    many.assign(text).push_back('\n');
    padded = many.c_str();
  }
  double value = 0;
  const char* end = scan_any_number(padded, value);
  if (end != padded + text.size() || text.empty()) return std::nullopt;
  return value;
}

bool says_missing(std::string_view text) {
  std::string lower;
  for (const char c : trimmed(text).substr(0, 16))
    lower.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
  if (!lower.empty() && (lower[0] == '+' || lower[0] == '-')) lower.erase(0, 1);
  constexpr std::string_view ways[] = {"",    "na", "n/a",      "nan",  "null",
                                       "inf", "?",  "infinity", "none", "missing"};
  return std::find(std::begin(ways), std::end(ways), lower) != std::end(ways);
}

std::string shown(std::string_view token) {
  constexpr std::size_t most = 40;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text = "'";
  for (const char c : token.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += "\\x";
      text += hex[byte >> 4];
      text += hex[byte & 15];
    }
  }
  if (token.size() > most) text += "...";
  return text + "'";
}

}  // namespace maxmargin
