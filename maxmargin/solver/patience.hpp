#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// Why nothing is known of a machine whose certificate was not waited for.
inline constexpr std::string_view no_time_to_certify =
    "there was no time for a certificate: 'maxmargin verify' takes as long as it needs";

/// Asks an observer and the clock, on behalf of a certificate that takes long and from any of its
/// threads, whether there is still time for it.
class Patience {
 public:
  Patience(const Observer& observer, double seconds) : observer_(observer), seconds_(seconds) {}

  /// What is told, from now on.
  void tell(const Progress& progress, double seconds) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
    progress_.seconds = seconds;
  }
  void end(Control answer) {
    const std::lock_guard lock(mutex_);
    end_now(answer);
  }
  /// Whether all has to end.
  bool is_over() {
    if (over_) return true;
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const double now = clock_.seconds();
    if (!lock || over_ || now < asked_ + between) return over_;
    asked_ = now;
    const Control answer = observer_ ? observer_(progress_) : Control::proceed;
    if (answer == Control::proceed && now < seconds_) return false;
    end_now(answer);
    return true;
  }
  /// Whether it had to end so long ago that not even a first certificate is waited for.
  bool is_exhausted() { return is_over() && clock_.seconds() > last_; }
  std::optional<Ended> ended() const { return over_ ? std::optional(ended_) : std::nullopt; }

 private:
  // Seconds between two questions. After a signal a certificate has so many more, after a limit of
  // minutes a share of it.
  static constexpr double between = 0.1, grace = 0.2, share_of_limit = 0.05;

  void end_now(Control answer) {
    if (over_) return;
    ended_ = answer == Control::cancel ? Ended::cancelled : Ended::time_limit;
    const bool is_limit = answer == Control::proceed;
    last_ = clock_.seconds() + (is_limit ? std::max(grace, share_of_limit * seconds_) : grace);
    over_ = true;
  }

  const Observer& observer_;
  const double seconds_;
  Stopwatch clock_;
  std::mutex mutex_;
  Progress progress_;
  double asked_ = -infinity, last_ = infinity;
  std::atomic<bool> over_ = false;
  Ended ended_ = Ended::time_limit;
};

}  // namespace maxmargin
