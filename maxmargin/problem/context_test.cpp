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
  const Context part = given.after(0.5, Stop{}).with_memory(4096).on(alone);
  EXPECT_EQ(&part.threads, &alone);
  EXPECT_EQ(part.memory, 4096u);
  EXPECT_EQ(part.seconds, infinity);
  EXPECT_EQ(part.observer(Progress{}), Control::finish);
  EXPECT_EQ(told, 1);
  const Context other = part.watched_by([](const Progress&) { return Control::cancel; });
  EXPECT_EQ(other.observer(Progress{}), Control::cancel);
  EXPECT_EQ(&other.threads, &alone);
  EXPECT_EQ(other.memory, 4096u);
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
