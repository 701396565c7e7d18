#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>

namespace maxmargin {

/// A fixed crew of threads, passed by reference to whatever may use it. Tasks are handed out in any
/// order to any thread, so a task must write only what belongs to it: then the result has the same
/// bits for every number of threads.
class Threads {
 public:
  /// Thrown by `run` where it was told that all is over.
  struct Interrupted {};

  /// 0: as many as the cores this process may use (affinity and cgroup limits count).
  explicit Threads(int count = 0);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// The same crew, for work that may have to end before it is done: `run` asks before each task,
  /// from any thread, and throws Interrupted instead of the rest.
  Threads interrupted_by(std::function<bool()> is_over) const;

  int count() const;

  /// Runs task(0) ... task(tasks - 1) and returns when all have ended. The calling thread takes
  /// part. Not to be called from inside a task of the same crew. The first exception is rethrown.
  void run(std::size_t tasks, const std::function<void(std::size_t)>& task) const;

  /// Splits [0, size) into pieces of `grain` (whatever the number of threads) and runs
  /// `body(begin, end)` on each.
  template <class Body>
  void split(std::size_t size, std::size_t grain, Body&& body) const {
    if (size == 0) return;
    run((size + grain - 1) / grain,
        [&](std::size_t piece) { body(piece * grain, std::min(size, (piece + 1) * grain)); });
  }

 private:
  struct Crew;
  Threads(std::shared_ptr<Crew> crew, std::function<bool()> is_over);

  std::shared_ptr<Crew> crew_;
  std::function<bool()> is_over_;  ///< empty: never
};

}  // namespace maxmargin
