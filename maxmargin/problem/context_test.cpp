#include "maxmargin/problem/context.hpp"

#include <gtest/gtest.h>

namespace maxmargin::context_test {
namespace {

TEST(Context, HandsDownWhatIsNotChanged) {
  const Threads all(2), alone(1);
  int told = 0;
  const Context given(all, [&](const Progress&) {
    ++told;
    return Control::finish;
  });
  CostModel dear;
  dear.touch_value = 100;
  const Context part =
      given.after(0.5, Stop{}).with_memory(MemoryBudget{4096}).with_costs(dear).on(alone);
  EXPECT_EQ(&part.threads, &alone);
  EXPECT_EQ(part.memory->bytes, 4096u);
  EXPECT_EQ(part.costs.touch_value, 100);
  EXPECT_EQ(part.seconds, infinity);
  EXPECT_EQ(part.observer(Progress{}), Control::finish);
  EXPECT_EQ(told, 1);
  const Context other = part.watched_by([](const Progress&) { return Control::cancel; });
  EXPECT_EQ(other.observer(Progress{}), Control::cancel);
  EXPECT_EQ(&other.threads, &alone);
  EXPECT_EQ(other.memory->bytes, 4096u);
  EXPECT_EQ(other.costs.touch_value, 100);
}

TEST(Context, NothingLeftIsNotEverythingAskedFor) {
  const Threads threads(1);
  const Context given(threads);
  EXPECT_FALSE(given.memory);
  EXPECT_EQ(given.with_memory(MemoryBudget{8}.without(16)).memory->bytes, 0u);
}

TEST(Context, KnowsTheTimeThatIsLeft) {
  const Threads threads(1);
  const Context given(threads);
  Stop stop;
  stop.seconds = 10;
  const Context later = given.after(4, stop);
  EXPECT_EQ(later.seconds, 6);
  EXPECT_EQ(later.after(1, stop).seconds, 5);  // the shorter of what is left and what is asked for
  stop.seconds = 2;
  EXPECT_EQ(later.after(1, stop).seconds, 1);
  EXPECT_EQ(later.after(3, stop).seconds, 0);
}

}  // namespace
}  // namespace maxmargin::context_test
