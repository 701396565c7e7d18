#include "cli/terminal/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/terminal/output.hpp"
#include "cli/terminal/units.hpp"
#include "maxmargin/base/error.hpp"
#include "maxmargin/base/start_thread.hpp"

namespace maxmargin::cli {
namespace {

constexpr double silent_seconds = 2;
constexpr double window_seconds = 20;  // how far back the rate of convergence is measured
constexpr auto tick_time = std::chrono::milliseconds(250);

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string small(double value) {
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : std::string("-");
}

/// Estimates have few digits: "40 s", "4 min", "2 h".
std::string roughly(double seconds) {
  if (seconds < 10) return fmt::format("{:.0f} s", std::max(1.0, std::ceil(seconds)));
  if (seconds < 100) return fmt::format("{:.0f} s", 5 * std::ceil(seconds / 5));
  if (seconds < 5400) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
  return fmt::format("{:.0f} h", std::ceil(seconds / 3600));
}

}  // namespace

double RemainingTime::estimate(const Progress& progress, double now) {
  double remaining = progress.done > 0.01 && progress.done <= 1
                         ? now * (1 - progress.done) / progress.done
                         : by_convergence(progress, now);
  if (std::isfinite(stop_.seconds)) {
    const double allowed = std::max(0.0, stop_.seconds - now);
    remaining = remaining < 0 ? allowed : std::min(remaining, allowed);
  }
  return remaining;
}

double RemainingTime::by_convergence(const Progress& progress, double now) {
  if (progress.iteration < last_iteration_) samples_.clear();  // the next of several problems
  last_iteration_ = progress.iteration;
  double violation = 0;
  if (std::isfinite(progress.kkt)) violation = std::max(violation, progress.kkt / stop_.kkt);
  if (std::isfinite(progress.relative_gap))
    violation = std::max(violation, progress.relative_gap / stop_.relative_gap);
  if (!(violation > 0) || !std::isfinite(violation)) return -1;
  double level = std::max(0.0, std::log(violation));
  // The violation is not monotonic; the best so far is.
  if (!samples_.empty()) level = std::min(level, samples_.back().level);
  samples_.push_back({now, level});
  while (samples_.size() > 2 && samples_.front().seconds < now - window_seconds)
    samples_.pop_front();
  const double fallen = samples_.front().level - level;
  const double during = now - samples_.front().seconds;
  if (!(fallen > 0) || during < 1) return -1;
  return level * during / fallen;
}

ProgressLine::ProgressLine(const Stop& stop, const StopRequest& request, Show show)
    : request_(request),
      enabled_(show == Show::yes && is_terminal(STDERR_FILENO)),
      remaining_(stop) {
  if (!enabled_) return;
  try {
    ticker_ = start_thread([this] { tick(); });
  } catch (const Error&) {
    // Without room for a thread there is no progress line.
  }
}

ProgressLine::~ProgressLine() {
  if (!enabled_) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_one();
  if (ticker_.joinable()) ticker_.join();
  if (!drawn_) return;
  tell("\r\x1b[K");
}

void ProgressLine::update(const Progress& progress) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  last_ = progress;
  last_phase_ = progress.phase;
  last_->phase = last_phase_;
  last_seconds_ = watch_.seconds();
  last_remaining_ = remaining_.estimate(progress, last_seconds_);
}

void ProgressLine::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  notes_.push_back(text);
}

void ProgressLine::tick() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, tick_time, [this] { return ended_; })) draw();
}

void ProgressLine::draw() {
  const double elapsed = watch_.seconds();
  std::string line;
  if (request_.made()) {
    line = "stopping with the best so far (Ctrl-C again aborts)";
  } else {
    if (!last_ || elapsed < silent_seconds) return;
    double remaining = last_remaining_;
    if (remaining >= 0) remaining = std::max(0.0, remaining - (elapsed - last_seconds_));
    line = progress_text(*last_, elapsed, remaining);
  }
  for (const std::string& note : notes_) tell(fmt::format("\r{}\x1b[K\n", note));
  notes_.clear();
  const std::size_t columns = terminal_width();
  if (line.size() >= columns) line.resize(columns - 1);
  tell(fmt::format("\r{}\x1b[K", line));
  drawn_ = true;
}

std::string progress_text(const Progress& progress, double elapsed, double remaining) {
  std::string text(progress.phase);
  if (progress.iteration > 0)
    text += fmt::format(": iteration {}, gap {}, KKT {}", show_count(progress.iteration),
                        small(progress.relative_gap), small(progress.kkt));
  if (progress.size > 0)
    text += fmt::format(", {:.0f}% active", 100.0 * static_cast<double>(progress.active) /
                                                static_cast<double>(progress.size));
  text += fmt::format(", {:.0f} s", elapsed);
  if (remaining > 0) text += fmt::format(", about {} left", roughly(remaining));
  if (remaining == 0) text += ", finishing";
  return text;
}

}  // namespace maxmargin::cli
