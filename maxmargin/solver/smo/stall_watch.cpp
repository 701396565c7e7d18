#include "maxmargin/solver/smo/stall_watch.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

// Stalled after steps enough to move every variable this many times without progress.
constexpr std::size_t patience = 20;
// Iterations between two estimates of the rounding error of the gradient.
constexpr std::size_t iterations_between_checks = 16;

/// The expected rounding error of a derivative, where errors of kernel values have random signs.
double rounding_of_gradient(const SmoState& state) {
  double squares = 0;
  for (const double beta : state.active.beta) squares += beta * beta;
  return state.active.K->deviation() * state.largest_diagonal() * std::sqrt(squares);
}

}  // namespace

bool StallWatch::stalls(const SmoState& state, double decrease, double violation) {
  if (iterations_++ % iterations_between_checks == 0) rounding_ = rounding_of_gradient(state);
  const bool is_rounding = violation < rounding_;
  const bool progress = (decrease > 1e-15 * std::abs(objective_) && !is_rounding) ||
                        violation < 0.99 * least_violation_;
  least_violation_ = std::min(least_violation_, violation);
  objective_ -= decrease;
  if (progress) {
    idle_ = 0;
    return false;
  }
  idle_ += is_rounding ? patience : 1;
  if (decrease != 0 && idle_ <= patience * (state.active.size() / state.set_size.now + 50))
    return false;
  idle_ = 0;
  return true;
}

}  // namespace maxmargin
