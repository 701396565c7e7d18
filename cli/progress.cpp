#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/output.hpp"
#include "cli/units.hpp"

namespace maxmargin::cli {
namespace {

constexpr double silent_seconds = 2;
constexpr double window_seconds = 20;  // how far back the rate of convergence is measured

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string small(double value) {
  return std::isfinite(value) ? fmt::format("{:.1e}", value) : std::string("-");
}

}  // namespace

double RemainingTime::estimate(const Progress& progress, double now) {
  if (progress.iteration < last_iteration_) samples_.clear();  // the next of several problems
  last_iteration_ = progress.iteration;
  if (progress.done > 0.01 && progress.done <= 1) return now * (1 - progress.done) / progress.done;

  double violation = 0;
  if (std::isfinite(progress.kkt)) violation = std::max(violation, progress.kkt / stop_.kkt);
  if (std::isfinite(progress.relative_gap))
    violation = std::max(violation, progress.relative_gap / stop_.relative_gap);
  if (!(violation > 0) || !std::isfinite(violation)) return -1;
  double level = std::max(0.0, std::log(violation));
  // The violation goes up and down; the best so far falls only.
  if (!samples_.empty()) level = std::min(level, samples_.back().level);
  samples_.push_back({now, level});
  while (samples_.size() > 2 && samples_.front().seconds < now - window_seconds)
    samples_.pop_front();
  const double fallen = samples_.front().level - level;
  const double during = now - samples_.front().seconds;
  if (!(fallen > 0) || during < 1) return -1;
  return level * during / fallen;
}

ProgressLine::ProgressLine(const Stop& stop, Show show)
    : enabled_(show == Show::yes && is_terminal(STDERR_FILENO)), remaining_(stop) {}

void ProgressLine::update(const Progress& progress) {
  if (!enabled_) return;
  const double elapsed = watch_.seconds();
  const double remaining = remaining_.estimate(progress, elapsed);
  if (elapsed < silent_seconds) return;
  draw(progress_text(progress, elapsed, remaining));
}

void ProgressLine::stopping() {
  if (enabled_) draw("stopping: the best model so far will be written (Ctrl-C again aborts)");
}

void ProgressLine::draw(std::string line) {
  const std::size_t width = terminal_width();
  if (line.size() >= width) line.resize(width - 1);
  fmt::print(stderr, "\r{}\x1b[K", line);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

std::string progress_text(const Progress& progress, double elapsed, double remaining) {
  std::string text = fmt::format("{}: iteration {}, gap {}, KKT {}", progress.phase,
                                 show_count(progress.iteration), small(progress.relative_gap),
                                 small(progress.kkt));
  if (progress.size > 0)
    text += fmt::format(", {:.0f}% active", 100.0 * static_cast<double>(progress.active) /
                                                static_cast<double>(progress.size));
  text += fmt::format(", {:.0f} s", elapsed);
  if (remaining >= 0)
    text += fmt::format(", about {} left", show_seconds(std::max(1.0, std::ceil(remaining))));
  return text;
}

}  // namespace maxmargin::cli
