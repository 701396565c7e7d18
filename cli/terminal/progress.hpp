#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cli/terminal/signals.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin::cli {

/// Estimates how long a run still takes, from the share of work that the solver reports or, without
/// it, from how fast the logarithm of the violation falls towards its target.
class RemainingTime {
 public:
  explicit RemainingTime(const Stop& stop) : stop_(stop) {}
  /// Seconds, at most what a time limit leaves; negative while there is no estimate.
  double estimate(const Progress& progress, double now);

 private:
  double by_convergence(const Progress& progress, double now);

  struct Sample {
    double seconds;
    double level;  ///< log of violation / target, 0 at the goal
  };
  Stop stop_;
  std::deque<Sample> samples_;
  std::size_t last_iteration_ = 0;
};

/// One line on standard error, rewritten in place; nothing unless a terminal is there and the run
/// takes longer than two seconds. A thread of its own keeps the time running, and answers a signal
/// at once, while the solver is busy.
class ProgressLine {
 public:
  enum class Show { yes, no };
  ProgressLine(const Stop& stop, const StopRequest& request, Show show);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const Progress& progress);
  /// A permanent line, shown if the run takes longer than two seconds.
  void note(const std::string& text);

 private:
  void tick();
  void draw();  ///< with the mutex held

  const StopRequest& request_;
  const bool enabled_;
  RemainingTime remaining_;
  Stopwatch watch_;

  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  bool drawn_ = false;
  std::optional<Progress> last_;
  std::vector<std::string> notes_;  ///< not shown yet
  std::string last_phase_;          ///< keeps what last_->phase shows
  double last_seconds_ = 0;         ///< when it came
  double last_remaining_ = -1;
  std::thread ticker_;
};

/// The text of the line, before it is cut to the width of the terminal.
std::string progress_text(const Progress& progress, double elapsed, double remaining);

}  // namespace maxmargin::cli
