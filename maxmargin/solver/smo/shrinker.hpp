#pragma once

#include "maxmargin/solver/smo/state.hpp"

namespace maxmargin {

/// Shrinking (Joachims 1999): variables that stand at a bound, and would not leave it even if the
/// gradient moved as far as it violates optimality, are left out until the rest is solved.
class Shrinker {
 public:
  /// f of the start is made by these threads, which may be interrupted.
  Shrinker(SmoState& state, const Threads& hurried);

  /// Leaves out what can be, every so many calls and where that pays; true if the active problem is
  /// now another one.
  bool shrink(const Active::Gradient& gradient);
  /// Returns to the whole problem; f at the points left out follows from the changes since.
  void restore();
  /// After a shrunk problem has stalled, which it would do again.
  void forbid() { allowed_ = false; }

 private:
  bool pays() const;

  SmoState& state_;
  std::vector<double> full_f_, full_coefficients_;  ///< of the whole problem, when last shrunk
  bool allowed_;
  std::size_t since_last_ = 0;
};

}  // namespace maxmargin
