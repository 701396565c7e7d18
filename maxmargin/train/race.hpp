#pragma once

#include <functional>
#include <string>
#include <vector>

#include "maxmargin/train/disk/out_of_core.hpp"

namespace maxmargin {

/// A competitor: a solver on the exact kernel, the one that `auto` chooses on an approximation of
/// it, or the interior point method with the rows on disk.
struct Lane {
  std::string solver;
  std::optional<Approximate> approximate{};
  bool out_of_core = false;
  double low_rank = 0;  ///< InteriorPoint::low_rank

  std::string name() const;  ///< "smo", "interior-point --thin 1e-5", "pivoted 200", "out-of-core"
};

/// The result of a lane.
struct Raced {
  Lane lane;
  std::string refused;  ///< why it did not run; empty: it ran
  Trained trained;
  std::size_t model_bytes = 0;  ///< of the model's file

  /// Training and certifying, an approximation of the kernel included.
  double seconds() const { return trained.train_seconds + trained.certify_seconds; }
  bool converged() const { return refused.empty() && trained.ended == Ended::converged; }
};

struct RaceOptions {
  TrainOptions train{};  ///< its `solver` and `settings` are ignored; the limits hold for each
  std::vector<std::string> only{};  ///< solvers to run; empty: all of the list
  /// Basis functions of the approximations that run along; 0: none; empty: a twentieth of the rows.
  /// None either where the kernel has few columns, or options.train approximates it for all.
  std::vector<std::size_t> ranks{};
  /// The same rows on disk, for a lane that reads them from there; may be null.
  const SpilledData* on_disk = nullptr;
};

struct Race {
  std::vector<Raced> lanes;  ///< the converged ones first, by time; those that were refused last
  Choice automatic;          ///< what `auto` takes
  double best_primal = infinity;  ///< the least of all; that of an approximation bounds the same
  double best_dual = -infinity;   ///< the largest of those with the kernel as it is
  bool interrupted = false;       ///< the observer cancelled: some may be missing
};

/// Trains the same machine with every solver that accepts it; calls `finished` after each.
/// Throws Error when data and options do not fit together, or `only` has a name that is not listed.
Race race(Dataset data, const RaceOptions& options, const Context& context,
          const std::function<void(const Raced&)>& finished = {});

}  // namespace maxmargin
