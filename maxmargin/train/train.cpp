#include "maxmargin/train/train.hpp"

#include <algorithm>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/train/folds/calibrate.hpp"
#include "maxmargin/train/machines/machines.hpp"

namespace maxmargin {

namespace {

Trained trained_afresh(const Prepared& prepared, const Subproblems& problems,
                       const TrainOptions& options, const Context& context) {
  const TrainedMachines made = train_machines(prepared.examples, problems, options, context);
  return put_together(prepared, made.problems, options, made.machines, context.threads);
}

}  // namespace

Trained train(const Prepared& prepared, const Subproblems& problems, const TrainOptions& options,
              const Context& context) {
  const Stopwatch clock;
  Trained trained = trained_afresh(prepared, problems, options, context);
  trained.train_seconds = std::max(0.0, clock.seconds() - trained.certify_seconds);
  return trained;
}

namespace {

void add_probabilities(const Prepared& prepared, const TrainOptions& options,
                       const Retrainer* retrainer, const Context& context, Trained& trained) {
  const Stopwatch clock;
  const Folds folds =
      make_folds(prepared.examples.x->count(), prepared.y, prepared.weight,
                 prepared.problems.outcome, options.probability_folds, options.seed);
  const OutOfFold judged = judge_out_of_fold(
      prepared, folds, options, context.after(trained.train_seconds, options.stop), retrainer);
  trained.model.calibration = calibrate(prepared, judged, options.task, options.probability_folds);
  trained.ended = worse(trained.ended, judged.ended);
  trained.calibrate_seconds = clock.seconds();
}

}  // namespace

Trained train(Dataset data, const TrainOptions& options, const Context& context) {
  const Prepared prepared = prepare(std::move(data), options, context);
  const Context rest = context.after(prepared.seconds, options.stop);
  const bool calibrated = options.probability_folds > 0;
  const Stopwatch clock;
  std::optional<Retrainer> retrainer;
  if (calibrated)
    if (auto can = retrainable(prepared, options,
                               static_cast<std::size_t>(options.probability_folds), rest))
      retrainer.emplace(prepared, *std::move(can), options, rest);
  Trained trained = retrainer ? put_together(prepared, prepared.problems, options,
                                             retrainer->whole(), context.threads)
                              : trained_afresh(prepared, prepared.problems, options, rest);
  trained.train_seconds =
      prepared.seconds + std::max(0.0, clock.seconds() - trained.certify_seconds);
  // Of machines that there was no time for, folds would not be trained either.
  if (calibrated && trained.ended != Ended::cancelled && trained.model.untrained.none())
    add_probabilities(prepared, options, retrainer ? &*retrainer : nullptr, context, trained);
  return trained;
}

}  // namespace maxmargin
