#pragma once

#include "maxmargin/base/clock.hpp"
#include "maxmargin/solver/limits.hpp"
#include "maxmargin/solver/patience.hpp"
#include "maxmargin/structured/solvers/plane_blocks.hpp"
#include "maxmargin/structured/solvers/solve.hpp"

namespace maxmargin {

/// The outer loop that the solvers share: counts calls of the oracle, asks limits and the observer,
/// records the curve and the best w, and decides when to end.
class Rounds {
 public:
  Rounds(const Structured& problem, const Stop& stop, const StructuredRun& run);

  void count_calls(std::size_t oracles) { solution_.oracle_calls += oracles; }
  /// An exact pass, `make(threads)`; nothing where all has to end before it is done.
  template <class Make>
  std::optional<ExactPass> pass(Make&& make) {
    patience_.tell(progress_, watch_.seconds());
    try {
      return make(hurried_);
    } catch (const Threads::Interrupted&) {
      ended_ = patience_.ended();
      return std::nullopt;
    }
  }
  /// Records an exact pass at `w`; returns whether to go on.
  bool record(const ExactPass& pass, const StructuredWeights& w, std::uint64_t planes);
  bool record(const ExactPass& pass, PlaneBlocks& blocks);
  /// Records what a round gained: three rounds without gain or new planes are a stall.
  void record_gain(double gained, bool added);
  /// Whether the run has stalled; if so, clears that, so that another method can go on.
  bool resume_after_stall();
  /// Whether neither the limits nor the observer end the run.
  bool running();

  StructuredSolution finish(PlaneBlocks& blocks);
  StructuredSolution finish(Planes planes, const StructuredWeights& last);

 private:
  const Structured& problem_;
  const Stop& stop_;
  const StructuredRun& run_;
  Run limits_run_;
  Limits limits_;
  Patience patience_;
  const Threads hurried_;  ///< until all has to end
  Stopwatch watch_;
  Progress progress_;
  StructuredSolution solution_;
  double best_primal_ = infinity, last_primal_ = infinity, best_dual_ = -infinity;
  std::vector<double> best_w_;
  int idle_rounds_ = 0;
  std::size_t flat_rounds_ = 0;  ///< consecutive rounds in which neither objective improved
  std::optional<Ended> ended_;
};

/// Rounds of n-slack cutting planes until they end.
void cut_planes(PlaneBlocks& blocks, Rounds& rounds, std::size_t idle);
/// Rounds of 1-slack cutting planes from these planes until they end.
StructuredSolution cut_joint_planes(const Structured& problem, const StructuredRun& how,
                                    Planes start, Rounds& rounds);

}  // namespace maxmargin
