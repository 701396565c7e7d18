#include "maxmargin/structured/solvers/rounds.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

/// Without slack the dual of separable data is at most 1/2 margin^-2: beyond this the margin is
/// below 1e-5 of the losses, and the problem is taken to be infeasible.
constexpr double unbounded_dual = 1e10;
/// Rounds without a larger dual or a smaller primal after which the run has stalled.
constexpr std::size_t most_flat_rounds = 20;

}  // namespace

Rounds::Rounds(const Structured& problem, const Stop& stop, const StructuredRun& run)
    : problem_(problem),
      stop_(stop),
      run_(run),
      limits_run_{run},
      limits_(limits_run_, stop),
      patience_(run.observer, std::min(run.seconds, stop.seconds)),
      hurried_(run.threads.interrupted_by([this] { return patience_.is_over(); })) {
  progress_.phase = "train";
  progress_.size = problem.oracle.examples();
}

bool Rounds::running() {
  if (ended_) return false;
  progress_.iteration = static_cast<std::size_t>(solution_.oracle_calls);
  if (!limits_.allow(progress_)) ended_ = limits_.stopped();
  return !ended_;
}

bool Rounds::record(const ExactPass& pass, PlaneBlocks& blocks) {
  const bool on = record(pass, blocks.w(), blocks.count());
  if (on) blocks.use_precision_for(progress_.relative_gap);
  if (on && run_.checkpoint) run_.checkpoint(blocks.planes());
  return on;
}

bool Rounds::record(const ExactPass& pass, const StructuredWeights& w, std::uint64_t planes) {
  ++solution_.iterations;
  count_calls(pass.terms.size());
  last_primal_ = pass.primal;
  solution_.curve.push_back(
      {solution_.oracle_calls, watch_.seconds(), pass.primal, pass.dual, planes});
  const auto more = [](double now, double before) {
    return !(now <= before + 1e-15 * std::abs(before));
  };
  const bool improves = more(pass.dual, best_dual_) || more(-pass.primal, -best_primal_);
  flat_rounds_ = improves ? 0 : flat_rounds_ + 1;
  best_dual_ = std::max(best_dual_, pass.dual);
  // Without slack P is only the norm, and earlier w violate the margins by more.
  if (problem_.slack != Slack::none && pass.primal < best_primal_) {
    best_primal_ = pass.primal;
    best_w_ = w.coefficients();
  }
  const double best = problem_.slack == Slack::none ? pass.primal : best_primal_;
  const double gap =
      problem_.slack == Slack::none ? pass.gap : std::min(pass.gap, best - pass.dual);
  const double size = std::abs(best) + std::abs(pass.dual);
  const double relative = size > 0 ? 2 * gap / size : 0;
  progress_.primal = best;
  progress_.dual = pass.dual;
  progress_.relative_gap = relative;
  progress_.active = static_cast<std::size_t>(planes);
  const bool holds = problem_.slack != Slack::none || pass.largest_violation <= stop_.kkt;
  // The certificate adds rounding errors to the gap.
  if (holds && relative <= 0.999 * stop_.relative_gap)
    ended_ = Ended::converged;
  else if (problem_.slack == Slack::none && pass.dual > unbounded_dual)
    ended_ = Ended::unbounded;
  else if (solution_.iterations >= stop_.iterations)
    ended_ = Ended::iteration_limit;
  else if (flat_rounds_ >= most_flat_rounds)
    ended_ = Ended::stalled;
  return running();
}

void Rounds::record_gain(double gained, bool added) {
  const double least = 1e-15 * (std::abs(progress_.dual) + 1e-300);
  idle_rounds_ = added || gained > least ? 0 : idle_rounds_ + 1;
  if (idle_rounds_ >= 3 && !ended_) ended_ = Ended::stalled;
}

bool Rounds::resume_after_stall() {
  if (ended_ != Ended::stalled) return false;
  ended_.reset();
  idle_rounds_ = 0;
  flat_rounds_ = 0;
  return true;
}

StructuredSolution Rounds::finish(PlaneBlocks& blocks) { return finish(blocks.take(), blocks.w()); }

StructuredSolution Rounds::finish(Planes planes, const StructuredWeights& last) {
  for (auto& each : planes)
    std::erase_if(each, [](const Plane& plane) { return plane.alpha == 0; });
  solution_.planes = std::move(planes);
  solution_.ended = ended_.value_or(Ended::stalled);
  solution_.seconds = watch_.seconds();
  if (best_primal_ < last_primal_ && best_w_ != last.coefficients())
    solution_.w = std::move(best_w_);
  return std::move(solution_);
}

}  // namespace maxmargin
