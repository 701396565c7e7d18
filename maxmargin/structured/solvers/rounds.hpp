#pragma once

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/structured/solvers/plane_blocks.hpp"
#include "maxmargin/structured/solvers/solve.hpp"

namespace maxmargin {

/// What the cutting-plane solvers share: counting oracles, limits and the observer, the curve, the
/// best w, and when to end.
class Rounds {
 public:
  Rounds(const Structured& problem, const Stop& stop, const StructuredRun& run);

  void called(std::size_t oracles) { solution_.oracle_calls += oracles; }
  /// Takes note of an exact pass at `w`; whether to go on.
  bool next(const ExactPass& pass, const StructuredWeights& w, std::uint64_t planes);
  bool next(const ExactPass& pass, PlaneBlocks& blocks);
  /// Takes note of a round's gain: rounds without gain or new planes end the run.
  void progress(double gained, bool added);
  /// Whether the run stalled; it then goes on, by other means.
  bool go_on_after_stall();
  /// Whether neither time nor observer end the run.
  bool running();

  StructuredSolution finish(PlaneBlocks& blocks);
  StructuredSolution finish(Planes planes, const StructuredWeights& last);

 private:
  const Structured& problem_;
  const Stop& stop_;
  const StructuredRun& run_;
  Run limits_run_;
  Limits limits_;
  Stopwatch watch_;
  Progress progress_;
  StructuredSolution solution_;
  double best_primal_ = infinity, last_primal_ = infinity, best_dual_ = -infinity;
  std::vector<double> best_w_;
  int idle_rounds_ = 0;
  std::size_t flat_rounds_ = 0;  ///< in a row whose dual was no larger than the best
  std::optional<Ended> ended_;
};

/// Rounds of n-slack cutting planes until they end.
void cut_planes(PlaneBlocks& blocks, Rounds& rounds, std::size_t idle, const Threads& threads);

}  // namespace maxmargin
