#pragma once

#include "maxmargin/solver/restart.hpp"
#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {

/// Machines that were trained without some of the rows.
struct Retrained {
  Subproblems problems;             ///< what was left of them
  std::vector<std::size_t> number;  ///< of each machine among all of the data set
  TrainedList machines;             ///< with variables and f at the points of all rows
  Ended ended = Ended::converged;   ///< the worst
  std::uint64_t iterations = 0;     ///< summed
};

/// From scratch, without the machines of all rows.
Retrained train_afresh(const Prepared& prepared, const std::vector<bool>& left_out,
                       const TrainOptions& options, const Context& context);

/// A data set whose machines can be retrained from those of all rows.
struct Retrainable {
  Formulated first;  ///< the problem of the first machine
};
/// The solver must be one that starts from given variables and lets those be that are closed, and
/// no cost may be infinite. Otherwise machines of fewer rows are trained from scratch. So they are
/// where `folds` are so few that a start from all rows is no help.
std::optional<Retrainable> retrainable(const Prepared& prepared, const TrainOptions& options,
                                       std::size_t folds, const Context& context);

/// f of a machine, bias included, at all examples of its problem, those left out too. `all` is the
/// problem with all rows, over whose points `certified` has f.
std::vector<double> values_at_examples(const Formulated& all, const Subproblem& problem,
                                       const Certified& certified);

/// Of more machines than this, each is trained afresh for each fold: what would be kept of all of
/// them takes kilobytes each.
inline constexpr std::size_t most_retrained = 1000;

/// Results of more folds than this need not be in memory at a time.
inline constexpr std::size_t most_at_once = 32;

/// Trains the machines of a data set again and again without some of its rows, those of a fold. All
/// of them share one kernel matrix over all rows, and rows of it that are expensive are computed
/// once. Each starts from the variables and the f of the machine of all rows, from which
/// the share of the rows that are left out is subtracted, and is solved to the same tolerance as
/// from scratch.
class Retrainer {
 public:
  /// Trains the machines of all rows. Keeps a reference to `prepared`.
  Retrainer(const Prepared& prepared, Retrainable can, const TrainOptions& options,
            const Context& context);

  /// Without the rows that have `left_out[row]`, by these options, which may differ in limits.
  /// Starts from the machines of `from`, trained without fewer rows, in the place of those of all.
  Retrained without(const std::vector<bool>& left_out, const TrainOptions& options,
                    const Context& context, const Retrained* from = nullptr) const;

  /// The same for each of `left_out`: those of a single machine side by side, where they are enough
  /// for all threads. The limits of `options` are for all of them together.
  std::vector<Retrained> without_each(std::span<const std::vector<bool>> left_out,
                                      const TrainOptions& options, const Context& context,
                                      const Retrained* from = nullptr) const;

  /// f of a machine (the k-th of `retrained`) at all examples of its problem, those left out too.
  std::vector<double> values(const Retrained& retrained, std::size_t k) const;

  /// The machines of all rows, with their variables and f.
  const TrainedList& whole() const { return whole_; }

 private:
  const Prepared& prepared_;
  std::vector<Formulated> all_;  ///< the problem of each machine, with all rows
  TrainedList whole_;
  std::vector<Restart> restart_;
};

/// Retrainer::without for each of `left_out`, machine by machine: the memory of one of them for all
/// of its folds is freed before the next one is trained.
std::vector<Retrained> retrain_each(const Prepared& prepared, Retrainable can,
                                    std::span<const std::vector<bool>> left_out,
                                    const TrainOptions& options, const Context& context);

}  // namespace maxmargin
