#include "maxmargin/base/buffer.hpp"

#include <gtest/gtest.h>

#include <new>
#include <utility>

namespace maxmargin {
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
}  // namespace maxmargin
