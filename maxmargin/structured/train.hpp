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
  std::vector<double> path;  ///< costs solved before C, each from the solution of the one before
  const StructuredModel* resume = nullptr;  ///< its planes are where training starts
  /// Called every 10 seconds or so with the model so far.
  std::function<void(const StructuredModel&)> checkpoint;
  /// Called where the oracle throws, with the model so far, which has no certificate.
  std::function<void(const StructuredModel&)> rescue;
};

struct TrainedStructured {
  StructuredModel model;
  std::vector<StructuredPoint> curve;
};

/// Examines the oracle, solves, certifies and returns the model.
TrainedStructured train_structured(const StructuredTask& task, const Settings& settings,
                                   const StructuredData& data, const StructuredTraining& training,
                                   const Threads& threads, const Observer& observer = {});

/// The scores that an oracle over this data is asked with. Throws Error where the model does not
/// fit to the data.
std::vector<double> scores_of(const StructuredModel& model, const StructuredData& data);

/// The structure with the largest score, for each example.
std::vector<Structure> predict_structures(const Oracle& oracle, std::span<const double> w,
                                          const Threads& threads);

struct VerifiedStructured {
  StructuredCertificate recomputed;
  /// Heuristic oracles: the certificate of w = sum a psi by the second oracle, whose gap may be
  /// larger.
  std::optional<StructuredCertificate> by_witness;
  bool holds = false;
  std::string reason;
};
/// Recomputes the certificate from the planes of the model by the task's second oracle; where the
/// oracle is a heuristic, by the same oracle. What the rounding of scores may change is forgiven.
VerifiedStructured verify_structured(const StructuredModel& model, const StructuredData& data,
                                     const Threads& threads);

struct CrossValidatedStructured {
  StructuredScores scores;
  Ended ended = Ended::converged;
  std::uint64_t oracle_calls = 0;
  double seconds = 0;

  /// Whether not all folds were trained; then there is no score.
  bool cut_short() const { return ended == Ended::cancelled || ended == Ended::time_limit; }
};
/// Trains on all folds but one, in turn, and scores the predictions for that one.
CrossValidatedStructured cross_validate_structured(const StructuredData& data,
                                                   const StructuredTraining& training,
                                                   std::size_t folds, const Threads& threads,
                                                   const Observer& observer = {});

}  // namespace maxmargin
