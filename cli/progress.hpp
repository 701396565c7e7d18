#pragma once

#include <deque>
#include <string>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin::cli {

/// Guesses how long a run still takes, from the share of work that the solver reports or, without
/// it, from how fast the logarithm of the violation falls towards its target.
class RemainingTime {
 public:
  explicit RemainingTime(const Stop& stop) : stop_(stop) {}
  /// Seconds, or a negative number while nothing can be said.
  double estimate(const Progress& progress, double now);

 private:
  struct Sample {
    double seconds;
    double level;  ///< log of violation / target, 0 at the goal
  };
  Stop stop_;
  std::deque<Sample> samples_;
  std::size_t last_iteration_ = 0;
};

/// One line on standard error, rewritten in place; nothing unless a terminal is there and the run
/// takes longer than two seconds.
class ProgressLine {
 public:
  enum class Show { yes, no };
  ProgressLine(const Stop& stop, Show show);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(const Progress& progress);
  void stopping();  ///< a signal came: says what happens now
  void clear();

 private:
  void draw(std::string line);

  bool enabled_;
  bool drawn_ = false;
  RemainingTime remaining_;
  Stopwatch watch_;
};

/// The text of the line, before it is cut to the width of the terminal.
std::string progress_text(const Progress& progress, double elapsed, double remaining);

}  // namespace maxmargin::cli
