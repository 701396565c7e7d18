#include "maxmargin/base/threads.hpp"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "maxmargin/base/start_thread.hpp"

namespace maxmargin {
namespace {

int usable_cores() {
  int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) cores = std::max(1, CPU_COUNT(&set));
  std::ifstream limit("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (limit >> quota >> period && quota != "max" && period > 0)
    cores = std::clamp(static_cast<int>(std::stod(quota) / period + 0.5), 1, cores);
  return cores;
}

// A worker looks this often for new work before it goes to sleep: the pauses between the blocks of
// a solver are shorter than a wake-up.
constexpr int looks_before_sleep = 4000;

/// Tells the processor that this is a loop that waits.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

struct Threads::Crew {
  std::vector<std::thread> workers;
  std::mutex mutex;
  std::condition_variable wake;
  std::atomic<std::size_t> round{0};
  // A worker enters a round only while it is open, and the caller waits only for those inside: one
  // that wakes up too late holds nobody up. Either the caller, having closed the round, sees the
  // worker inside, or the worker sees that the round is closed.
  std::atomic<bool> open{false};
  std::atomic<int> inside{0};
  std::atomic<bool> ending{false};
  std::atomic<std::size_t> next{0};
  std::size_t tasks = 0;
  const std::function<void(std::size_t)>* task = nullptr;
  std::exception_ptr failure;

  ~Crew() {
    ending.store(true);
    begin_round();
    for (auto& worker : workers) worker.join();
  }

  void work() {
    for (std::size_t mine; (mine = next.fetch_add(1)) < tasks;) {
      try {
        (*task)(mine);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next.store(tasks);
      }
    }
  }

  void live() {
    std::size_t seen = 0;
    while (!ending.load()) {
      for (int look = 0; look < looks_before_sleep && round.load() == seen; ++look) relax();
      if (round.load() == seen) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return round.load() != seen; });
      }
      seen = round.load();
      inside.fetch_add(1);
      if (open.load()) work();
      inside.fetch_sub(1);
    }
  }

  void begin_round() {
    {
      const std::lock_guard lock(mutex);
      round.fetch_add(1);
    }
    wake.notify_all();
  }
};

Threads::Threads(int count) : crew_(std::make_shared<Crew>()) {
  const int all = count > 0 ? count : usable_cores();
  try {
    crew_->workers.reserve(static_cast<std::size_t>(all - 1));
    for (int i = 1; i < all; ++i)
      crew_->workers.push_back(start_thread([crew = crew_.get()] { crew->live(); }));
  } catch (const std::exception&) {
    // No room for more: those that are there do the work.
  }
}

Threads::Threads(std::shared_ptr<Crew> crew, std::function<bool()> is_over)
    : crew_(std::move(crew)), is_over_(std::move(is_over)) {}

Threads Threads::interrupted_by(std::function<bool()> is_over) const {
  return {crew_, std::move(is_over)};
}

int Threads::count() const { return static_cast<int>(crew_->workers.size()) + 1; }

void Threads::run(std::size_t tasks, const std::function<void(std::size_t)>& given) const {
  const std::function<void(std::size_t)> asking = [&](std::size_t number) {
    if (is_over_()) throw Interrupted();
    given(number);
  };
  const std::function<void(std::size_t)>& task = is_over_ ? asking : given;
  if (tasks <= 1 || crew_->workers.empty()) {
    for (std::size_t i = 0; i < tasks; ++i) task(i);
    return;
  }
  crew_->task = &task;
  crew_->tasks = tasks;
  crew_->failure = nullptr;
  crew_->next.store(0);
  crew_->open.store(true);
  crew_->begin_round();
  crew_->work();
  crew_->open.store(false);
  for (int look = 0; crew_->inside.load() > 0; ++look) {
    if (look < looks_before_sleep)
      relax();
    else
      std::this_thread::yield();
  }
  if (crew_->failure) std::rethrow_exception(crew_->failure);
}

}  // namespace maxmargin
