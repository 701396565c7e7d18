#include "maxmargin/solver/limits.hpp"

#include <gtest/gtest.h>

namespace maxmargin::limits_test {
namespace {

Ended ended_by(Control answer) {
  const Threads threads(1);
  std::size_t seen = 0;
  const Context watched(threads, [&](const Progress& progress) {
    EXPECT_EQ(progress.phase, "train");
    EXPECT_EQ(progress.iteration, 7u);
    EXPECT_GE(progress.seconds, 3);
    ++seen;
    return answer;
  });
  const Run run{watched, {}, Precision::fast, 3};
  Limits limits(run, Stop{});
  Progress progress;
  progress.iteration = 7;
  EXPECT_FALSE(limits.allow(progress));
  EXPECT_FALSE(limits.allow(progress));
  EXPECT_EQ(seen, 1u) << "who has answered is not asked again";
  return limits.stopped().value();
}

TEST(Limits, TheObserverEndsIt) {
  EXPECT_EQ(ended_by(Control::finish), Ended::time_limit);
  EXPECT_EQ(ended_by(Control::cancel), Ended::cancelled);
}

TEST(Limits, TheTimeEndsIt) {
  const Threads threads(1);
  maxmargin::Run run{threads};
  Progress progress;
  Stop stop;
  stop.seconds = 100;
  Limits before(run, stop);
  EXPECT_TRUE(before.allow(progress));
  EXPECT_FALSE(before.stopped());
  run.seconds_before = 100;
  Limits after(run, stop);
  EXPECT_FALSE(after.allow(progress));
  EXPECT_EQ(after.stopped(), Ended::time_limit);
}

TEST(Limits, WhatIsLeftOfTheTimeEndsItToo) {
  const Threads threads(1);
  Stop stop;
  stop.seconds = 100;
  Progress progress;
  const maxmargin::Run run{Context(threads).after(100, stop)};
  Limits limits(run, stop);
  EXPECT_FALSE(limits.allow(progress));
  EXPECT_EQ(limits.stopped(), Ended::time_limit);
}

}  // namespace
}  // namespace maxmargin::limits_test
