#pragma once

#include <cstddef>

#include "maxmargin/solver/smo/state.hpp"

namespace maxmargin {

/// Notices that a run has stalled. Progress is a decrease of the objective above its rounding
/// error, or, close to the optimum, a smaller violation than ever before. Where the violation is
/// below the rounding error of the gradient, fewer iterations without progress are a stall.
class StallWatch {
 public:
  /// After an iteration; true: there has been no progress for too long.
  bool stalls(const SmoState& state, double decrease, double violation);

 private:
  std::size_t iterations_ = 0, idle_ = 0;
  double objective_ = 0;  ///< but for a constant
  double least_violation_ = infinity;
  double rounding_ = 0;  ///< of the gradient, at the last look
};

}  // namespace maxmargin
