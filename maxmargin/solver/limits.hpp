#pragma once

#include <algorithm>
#include <optional>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// What ends a run from outside: what is left of its time, and an observer that is asked a few
/// times a second.
class Limits {
 public:
  Limits(const Run& run, const Stop& stop)
      : run_(run), seconds_(std::min(run.seconds, stop.seconds)) {}

  /// Whether the run may go on. `progress` is what there is to tell, but for phase and time.
  bool allow(Progress& progress);
  /// The same where it takes time to know what there is to tell: `tell` returns it, and is called
  /// only when somebody is to hear it. Reports take a twentieth of the time at most.
  template <class Tell>
  bool allow_by(Tell&& tell) {
    if (is_due()) {
      Progress progress = tell();
      report(progress);
    }
    return !stopped_;
  }
  /// Why it may not.
  const std::optional<Ended>& stopped() const { return stopped_; }

 private:
  double now() const { return run_.seconds_before + clock_.seconds(); }
  bool is_due();
  void report(Progress& progress);

  const Run& run_;
  double seconds_;
  double asked_ = 0;  ///< when
  Stopwatch clock_;
  double last_report_ = 0;
  std::optional<Ended> stopped_;
};

/// An observer of a problem of `size` variables, for the solution of a part of it.
Observer observer_of_part(const Observer& observer, std::size_t size);

}  // namespace maxmargin
