#pragma once

#include <cstddef>

#include "maxmargin/solver/smo/state.hpp"

namespace maxmargin {

/// Notices that a run comes no further. Progress is a decrease that a double can show beside the
/// objective, or, close to the optimum, a smaller violation than ever. A violation that is a matter
/// of rounding may promise decreases for ever: then nobody waits as long.
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
