#pragma once

#include <optional>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// What ends a run from outside: its time limit, and an observer that is asked a few times a
/// second.
class Limits {
 public:
  Limits(const Run& run, const Stop& stop) : run_(run), seconds_(stop.seconds) {}

  /// Whether the run may go on. `progress` is what there is to tell, but for phase and time.
  bool allow(Progress& progress);
  /// Why it may not.
  const std::optional<Ended>& stopped() const { return stopped_; }

 private:
  const Run& run_;
  double seconds_;
  Stopwatch clock_;
  double last_report_ = 0;
  std::optional<Ended> stopped_;
};

/// An observer of a problem of `size` variables, for the solution of a part of it.
Observer observer_of_part(const Observer& observer, std::size_t size);

}  // namespace maxmargin
