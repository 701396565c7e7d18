#pragma once

#include "maxmargin/structured/model.hpp"
#include "maxmargin/structured/solvers/solve.hpp"

namespace maxmargin {

struct StructuredTraining {
  double C = 1;
  Rescaling rescaling = Rescaling::margin;
  Slack slack = Slack::linear;
  StructuredSolver solver;
  Stop stop;
  std::uint64_t seed = 0;
  std::vector<double> path;  ///< costs to pass through before C, each from the one before
  const StructuredModel* resume = nullptr;  ///< planes to start from
  /// Called now and then with a model that holds what there is so far.
  std::function<void(const StructuredModel&)> checkpoint;
  /// Called with what there is so far, of which nothing is certified, where the oracle fails.
  std::function<void(const StructuredModel&)> rescue;
};

struct TrainedStructured {
  StructuredModel model;
  std::vector<StructuredPoint> curve;
};

/// Doctor, solver, certificate, model.
TrainedStructured train_structured(const StructuredTask& task, const Settings& settings,
                                   const StructuredData& data, const StructuredTraining& training,
                                   const Threads& threads, const Observer& observer = {});

/// w as oracles over this data see it. Throws Error unless the model is for it.
std::vector<double> scores_of(const StructuredModel& model, const StructuredData& data);

/// The structures that a model finds best.
std::vector<Structure> predict_structures(const Oracle& oracle, std::span<const double> w,
                                          const Threads& threads);

struct VerifiedStructured {
  StructuredCertificate recomputed;
  /// Of a heuristic, for the planes' w: what the second oracle finds, which may be more.
  std::optional<StructuredCertificate> by_witness;
  bool holds = false;
  std::string reason;
};
/// The certificate again, from the planes in the model, by the task's second oracle; that of a
/// heuristic by itself.
VerifiedStructured verify_structured(const StructuredModel& model, const StructuredData& data,
                                     const Threads& threads);

struct CrossValidatedStructured {
  StructuredScores scores;
  Ended ended = Ended::converged;
  std::uint64_t oracle_calls = 0;
  double seconds = 0;
};
/// Trains on all folds but one, in turn, and scores what is predicted of it.
CrossValidatedStructured cross_validate_structured(const StructuredData& data,
                                                   const StructuredTraining& training,
                                                   std::size_t folds, const Threads& threads,
                                                   const Observer& observer = {});

}  // namespace maxmargin
