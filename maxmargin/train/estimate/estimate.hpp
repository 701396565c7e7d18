#pragma once

#include <optional>
#include <string>
#include <vector>

#include "maxmargin/train/train.hpp"

// Estimates of the error on new rows from one machine, without test data (T6). A machine trained
// without row p errs on it only if
//
//   xi-alpha        alpha_p D^2 + xi_p >= 1   (D: the diameter of the rows in feature space; K(x_p,
//                   x_p) in the place of D^2 where b is penalised or absent, more than D^2 where
//                   the free variables have room for less than 2 alpha_p), or they have no room
//                   for alpha_p, so that b may jump
//   E[#SV]/m        p is a support vector
//   radius/margin   sum over p of alpha_p D^2 + xi_p, which without errors is D^2 / margin^2; of a
//                   tube this bounds |y_p - f(x_p)| - epsilon
//
// are bounds of leave-one-out. The span rule, f without p at x_p is about f(x_p) - beta_p S_p^2
// with S_p the distance of x_p from the span of the other free support vectors, is exact as long as
// the same variables stay free, and no bound.

namespace maxmargin {

/// Leave-one-out: each row is predicted by a machine that was trained without it.
struct LeaveOneOut {
  double error = 0;           ///< share of wrong rows; numbers: mean squared error
  double absolute_error = 0;  ///< numbers: mean absolute error
  std::size_t trained = 0;    ///< rows whose machines had to be trained again
  std::size_t followed = 0;   ///< of these, by decremental unlearning
  std::vector<double> predicted;
  Ended ended = Ended::converged;
  double seconds = 0;
};

struct Estimates {
  Outcome outcome = Outcome::classes;
  double weight = 0;        ///< of all rows
  std::size_t support = 0;  ///< rows that are support vectors
  Certificate certificate;  ///< of the machine the estimates are made from
  double training_error = 0;
  // Each may be missing; then `missing` says why.
  std::optional<double> support_share, xi_alpha, radius_margin, span, span_absolute;
  std::optional<double> radius;  ///< of a ball around all rows in feature space
  std::vector<std::string> missing;
  std::optional<LeaveOneOut> restarted;  ///< exact, from the machine of all rows
  std::optional<LeaveOneOut> truth;      ///< every machine trained from scratch
  Ended ended = Ended::converged;
  double seconds = 0;  ///< of all but the two leave-one-outs
};

struct EstimateOptions {
  Stop stop{};  ///< of every machine; the model itself is improved until it meets it
  bool restarts = false;
  bool truth = false;
  std::size_t memory_bytes = 0;
};

/// `data` is what the model was trained on, as read. Throws Error where it is not, and where the
/// model has no dual variables.
Estimates estimate(const Model& model, Dataset data, const EstimateOptions& options,
                   const Context& context);

}  // namespace maxmargin
