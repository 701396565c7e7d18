#include "maxmargin/solver/standing.hpp"

namespace maxmargin {

std::optional<Ended> ended_by_limits(const Standing& standing, std::size_t size, const Stop& stop,
                                     Limits& limits) {
  if (standing.steps >= stop.iterations) return Ended::iteration_limit;
  Progress progress;
  progress.iteration = standing.steps;
  progress.active = progress.size = size;
  progress.primal = standing.primal;
  progress.dual = standing.dual;
  progress.relative_gap = standing.relative_gap;
  progress.kkt = standing.kkt;
  if (!limits.allow(progress)) return limits.stopped();
  return std::nullopt;
}

}  // namespace maxmargin
