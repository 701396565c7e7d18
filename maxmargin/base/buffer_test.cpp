#include "maxmargin/base/buffer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <utility>

namespace maxmargin::buffer_test {
namespace {

TEST(Buffer, GrowsAndKeepsItsContent) {
  Buffer<int> buffer;
  for (int i = 0; i < 300000; ++i) buffer.push_back(i);
  ASSERT_EQ(buffer.size(), 300000u);
  for (int i = 0; i < 300000; i += 997) EXPECT_EQ(buffer[static_cast<std::size_t>(i)], i);
  buffer.fit();
  EXPECT_EQ(buffer[299999], 299999);
  const Buffer<int> moved = std::move(buffer);
  EXPECT_EQ(moved[1234], 1234);
}

TEST(Buffer, KeepsItsContentWhereverItsMemoryComesFrom) {
  constexpr std::size_t mega = std::size_t{1} << 20;
  for (const std::size_t size : {mega / 2, 2 * mega, 40 * mega}) {
    Buffer<std::uint8_t> buffer;
    buffer.resize_for_overwrite(size);
    for (std::size_t i = 0; i < size; i += 4099) buffer[i] = static_cast<std::uint8_t>(i / 4099);
    const auto holds_up_to = [&](std::size_t end) {
      for (std::size_t i = 0; i < end; i += 4099)
        if (buffer[i] != static_cast<std::uint8_t>(i / 4099)) return false;
      return true;
    };
    buffer.resize(3 * size);
    EXPECT_TRUE(holds_up_to(size));
    EXPECT_EQ(buffer[3 * size - 1], 0);
    buffer.resize_for_overwrite(5 * size);
    EXPECT_TRUE(holds_up_to(size));
    buffer.resize(size / 2);
    buffer.fit();
    EXPECT_TRUE(holds_up_to(size / 2));
  }
}

TEST(Buffer, NewElementsAreZero) {
  Buffer<double> buffer(10);
  buffer.resize(100000);
  EXPECT_EQ(buffer[99999], 0.0);
}

TEST(Buffer, RefusesWhatNoMachineHas) {
  Pages pages;
  EXPECT_THROW(pages.resize(~std::size_t{0} / 2), std::bad_alloc);
}

TEST(Memory, IsMeasured) {
  EXPECT_GT(peak_memory_bytes(), std::size_t{1} << 20);
  EXPECT_GE(available_memory_bytes(), std::size_t{1} << 28);
}

}  // namespace
}  // namespace maxmargin::buffer_test
