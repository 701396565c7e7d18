#include "maxmargin/base/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace maxmargin::threads_test {
namespace {

TEST(Threads, EveryTaskRunsOnce) {
  for (const int count : {1, 2, 5}) {
    const Threads threads(count);
    EXPECT_EQ(threads.count(), count);
    for (const std::size_t tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> ran(tasks);
      threads.run(tasks, [&](std::size_t task) { ++ran[task]; });
      for (const auto& each : ran) EXPECT_EQ(each.load(), 1);
    }
  }
}

TEST(Threads, SplitCoversTheRange) {
  const Threads threads(3);
  std::vector<std::atomic<int>> covered(1001);
  threads.split(covered.size(), 64, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++covered[i];
  });
  for (const auto& each : covered) EXPECT_EQ(each.load(), 1);
}

TEST(Threads, InterruptedWorkEndsAndTheCrewGoesOn) {
  for (const int count : {1, 3}) {
    const Threads threads(count);
    std::atomic<int> done = 0;
    const Threads interrupted = threads.interrupted_by([&] { return done >= 10; });
    EXPECT_EQ(interrupted.count(), count);
    EXPECT_THROW(interrupted.run(100000, [&](std::size_t) { ++done; }), Threads::Interrupted);
    EXPECT_LT(done, 1000);
    done = 0;
    threads.run(100, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 100);
    done = 0;
    interrupted.run(5, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 5);
  }
}

TEST(Threads, AnExceptionReachesTheCallerAndTheCrewGoesOn) {
  const Threads threads(4);
  EXPECT_THROW(threads.run(100,
                           [](std::size_t task) {
                             if (task == 37) throw std::runtime_error("task");
                           }),
               std::runtime_error);
  std::atomic<int> ran{0};
  threads.run(50, [&](std::size_t) { ++ran; });
  EXPECT_EQ(ran.load(), 50);
}

}  // namespace
}  // namespace maxmargin::threads_test
