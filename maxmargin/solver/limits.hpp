#pragma once

#include <algorithm>
#include <optional>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// The limits of a run: its time, and an observer that is called a few times a second.
class Limits {
 public:
  Limits(const Run& run, const Stop& stop)
      : run_(run), seconds_(std::min(run.seconds, stop.seconds)) {}

  /// Whether the run may go on. Phase and time of `progress` are filled in.
  bool allow(Progress& progress);
  /// The same where progress is expensive to compute: `tell` returns it, and is called only for a
  /// report. Reports take at most a twentieth of the time.
  template <class Tell>
  bool allow_by(Tell&& tell) {
    if (is_due()) {
      Progress progress = tell();
      report(progress);
    }
    return !stopped_;
  }
  /// Why it may not; nothing while it may.
  const std::optional<Ended>& stopped() const { return stopped_; }

 private:
  double now() const { return run_.seconds_before + clock_.seconds(); }
  bool is_due();
  void report(Progress& progress);

  const Run& run_;
  double seconds_;
  double asked_ = 0;  ///< time of the last report
  Stopwatch clock_;
  double last_report_ = 0;
  std::optional<Ended> stopped_;
};

/// An observer of a problem of `size` variables, for the solution of a part of it.
Observer observer_of_part(const Observer& observer, std::size_t size);

}  // namespace maxmargin
