#include "maxmargin/model/file/number_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "maxmargin/base/rng.hpp"

namespace maxmargin::number_text_test {
namespace {

std::string value_text(double value) {
  std::array<char, number_room> room;
  return {room.data(), put_value(room.data(), value)};
}

std::string long_text(double value) {
  std::array<char, number_room> room;
  return {room.data(), put_long(room.data(), value)};
}

std::string printed(const char* form, double value) {
  std::array<char, 64> room;
  return {room.data(),
          static_cast<std::size_t>(std::snprintf(room.data(), room.size(), form, value))};
}

TEST(NumberText, IsThatOfPrintfWhereItsDigitsSuffice) {
  for (const double value :
       {0.0, 1.0, -1.0, 0.5, -0.631, 0.0001, 0.00012345678, 12.345678, 1e5, 999999.25, 1000000.5,
        99999999.0, 1e8, 1.5e9, 1e-5, -2.5e-7, 0.1, 1e22, 0.99999999})
    EXPECT_EQ(value_text(value), printed("%.8g", value)) << value;
}

TEST(NumberText, DecimalsAreTheDigitsWithoutZerosAtTheEnd) {
  for (std::uint32_t half = 1; half < 10000; ++half)
    for (const std::uint32_t value : {half, half * 10000, half * 10000 + 9999 - half}) {
      std::array<char, 9> digits;
      std::snprintf(digits.data(), digits.size(), "%08u", static_cast<unsigned>(value));
      std::string expected(digits.data());
      expected.resize(expected.find_last_not_of('0') + 1);
      std::array<char, number_room> room;
      ASSERT_EQ(std::string(room.data(), put_decimals(room.data(), value)), expected);
    }
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  Rng rng(7);
  for (int i = 0; i < 3000; ++i) {
    const double wide = std::ldexp(rng.uniform() - 0.5, static_cast<int>(rng.below(80)) - 40);
    // Of few digits, of all of them, and next to one of few.
    const double few = std::strtod(printed("%.6g", wide).c_str(), nullptr);
    for (const double value : {wide, few, std::nextafter(few, 1e300)}) {
      const std::string text = value_text(value);
      ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
      std::string shortest;
      for (int digits = 1; digits <= 17 && std::strtod(shortest.c_str(), nullptr) != value;
           ++digits)
        shortest = printed(("%." + std::to_string(digits) + "g").c_str(), value);
      if (std::abs(value) >= 1e-4 && std::abs(value) < 1e6) {
        ASSERT_LE(text.size(), shortest.size()) << shortest;
      }
    }
  }
}

TEST(NumberText, LongOnesAreThoseOfPrintf) {
  Rng rng(8);
  for (const double value : {0.0, 10.0, -3.0, 1e14, 1e15, 1e17, 0.1, -1e-7, 123456789012345.0})
    EXPECT_EQ(long_text(value), printed("%.17g", value));
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(rng.uniform() - 0.5, static_cast<int>(rng.below(120)) - 60);
    ASSERT_EQ(long_text(value), printed("%.17g", value));
  }
}

}  // namespace
}  // namespace maxmargin::number_text_test
