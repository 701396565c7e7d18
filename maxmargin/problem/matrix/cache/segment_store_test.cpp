#include "maxmargin/problem/matrix/cache/segment_store.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/threads.hpp"

namespace maxmargin::segment_store_test {
namespace {

TEST(SegmentStore, KeepsTheFirstWithinItsBudget) {
  SegmentStore store(4, 3 * 10 * sizeof(float));
  const std::vector<float> ones(10, 1.0f), twos(10, 2.0f);
  store.add(0, 5, 10, ones.data());
  store.add(0, 5, 10, twos.data());
  ASSERT_NE(store.find(0, 5, 10), nullptr);
  EXPECT_EQ(store.find(0, 5, 10)[9], 1.0f);
  EXPECT_EQ(store.find(0, 6, 10), nullptr);
  EXPECT_EQ(store.find(0, 5, 9), nullptr);
  EXPECT_EQ(store.find(1, 5, 10), nullptr);
  for (std::size_t row = 1; row < 4; ++row) store.add(row, 5, 10, ones.data());
  EXPECT_NE(store.find(2, 5, 10), nullptr);
  EXPECT_EQ(store.find(3, 5, 10), nullptr) << "there was no room";
}

TEST(SegmentStore, WhatWasTooMuchTakesNoRoom) {
  SegmentStore store(3, 20 * sizeof(float));
  store.add(0, 0, 30, std::make_unique<float[]>(30));
  EXPECT_EQ(store.find(0, 0, 30), nullptr);
  EXPECT_EQ(store.room(), 20u);
  store.add(1, 0, 15, std::make_unique<float[]>(15));
  store.add(1, 0, 5, std::make_unique<float[]>(5));  // there is one already
  EXPECT_NE(store.find(1, 0, 15), nullptr);
  EXPECT_EQ(store.room(), 5u);
}

TEST(SegmentStore, ThreadsAddTheSameRowsAtOnce) {
  const Threads threads(4);
  SegmentStore store(50, 1 << 20);
  threads.run(400, [&](std::size_t task) {
    const std::size_t row = task % 50;
    const std::vector<float> values(20, static_cast<float>(row));
    store.add(row, 0, 20, values.data());
    const float* found = store.find(row, 0, 20);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found[19], static_cast<float>(row));
  });
}

}  // namespace
}  // namespace maxmargin::segment_store_test
