#include "maxmargin/data/readers/formats/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::number_test {
namespace {

/// Scans a text that is followed by a line feed and by other bytes, as in a block.
double scanned(const std::string& text, std::size_t& length) {
  const std::string padded = text + "\n" + std::string(text_padding, '7');
  double value = -77;
  const char* end = scan_number(padded.c_str(), value);
  length = end == nullptr ? 0 : static_cast<std::size_t>(end - padded.c_str());
  return value;
}

TEST(Number, EightDigitsWhateverFollows) {
  Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    const auto count = static_cast<unsigned>(rng.below(9));
    std::string text;
    std::uint64_t value = 0;
    for (unsigned k = 0; k < count; ++k) {
      const auto digit = rng.below(10);
      text += static_cast<char>('0' + digit);
      value = value * 10 + digit;
    }
    if (count < 8) {
      char other = '0';
      while (other >= '0' && other <= '9') other = static_cast<char>(rng.below(256));
      text += other;
    }
    while (text.size() < 16) text += static_cast<char>(rng.below(256));
    const Digits digits = scan_8_digits(text.data());
    ASSERT_EQ(digits.count, count) << text;
    ASSERT_EQ(digits.value, value) << text;
  }
}

TEST(Number, EveryDoubleReadsBackExactly) {
  Rng rng(2);
  char text[64];
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(rng.next());
    if (!std::isfinite(value)) continue;
    std::snprintf(text, sizeof text, "%.17g", value);
    std::size_t length = 0;
    ASSERT_EQ(scanned(text, length), value) << text;
    ASSERT_EQ(text[length], '\0');
  }
}

TEST(Number, ShortDecimalsAreCorrectlyRounded) {
  Rng rng(3);
  char text[400];
  for (int i = 0; i < 50000; ++i) {
    const double size = std::pow(10.0, rng.uniform(-12, 12));
    const int digits = static_cast<int>(rng.below(12));
    std::snprintf(text, sizeof text, i % 2 == 0 ? "%.*f" : "%+.*f", digits,
                  rng.uniform(-1, 1) * size);
    std::size_t length = 0;
    ASSERT_EQ(scanned(text, length), std::strtod(text, nullptr)) << text;
    ASSERT_EQ(text[length], '\0');
  }
}

TEST(Number, FormsThatAreNumbers) {
  const std::pair<const char*, double> cases[] = {{"1", 1},
                                                  {"+1", 1},
                                                  {"-1", -1},
                                                  {"1.", 1},
                                                  {".5", 0.5},
                                                  {"-.5", -0.5},
                                                  {"1e3", 1e3},
                                                  {"1E+3", 1e3},
                                                  {"1.5e-3", .0015},
                                                  {"00012", 12},
                                                  {"123456789", 123456789},
                                                  {"0.1234567890123456789", 0.1234567890123456789},
                                                  {"1e-400", 0},
                                                  {"9007199254740993", 9007199254740992.0},
                                                  {"12345678.5", 12345678.5}};
  for (const auto& [text, value] : cases) {
    std::size_t length = 0;
    EXPECT_EQ(scanned(text, length), value) << text;
    EXPECT_EQ(length, std::string(text).size()) << text;
    EXPECT_EQ(number_in("  " + std::string(text) + " "), value) << text;
  }
  EXPECT_TRUE(std::isinf(*number_in("1e400")));
  EXPECT_TRUE(std::isinf(*number_in(std::string(400, '9'))));
}

TEST(Number, FormsThatAreNot) {
  for (const char* text : {"", "+", "-", ".", "-.", "+-1", "--1", "e5", "1e", "1e+", "nan", "inf",
                           "0x10", "1.2.3", "1,5", "1 2", "abc"})
    EXPECT_FALSE(number_in(text).has_value()) << text;
}

TEST(Number, TokensAreShownShortAndPrintable) {
  EXPECT_EQ(shown("abc"), "'abc'");
  EXPECT_EQ(shown(std::string_view("a\0\x1b", 3)), "'a\\x00\\x1b'");
  EXPECT_LT(shown(std::string(1000, 'x')).size(), 60u);
}

}  // namespace
}  // namespace maxmargin::number_test
