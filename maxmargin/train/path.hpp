#pragma once

#include <string>
#include <vector>

#include "maxmargin/train/train.hpp"

// Paths (T2, LWK 10.1.2): the same machines for one value of a parameter after another, each
// started from the one before. For costs the variables are scaled, a' = a C'/C, and f with them, so
// that a start costs nothing; all points share the kernel rows. For kernel widths the variables
// stay as they are.

namespace maxmargin {

enum class PathParameter { cost, width };

struct PathOptions {
  TrainOptions train{};  ///< its cost, or its gamma, is ignored
  PathParameter parameter = PathParameter::cost;
  std::vector<double> values{};  ///< strictly decreasing or strictly increasing
  int folds = 0;                 ///< of a cross-validation at each point; 0: none
};

/// One point, all of its machines together.
struct PathPoint {
  double value = 0;         ///< of the parameter
  double cost = 1;          ///< 1 where the task has none
  Certificate certificate;  ///< as of Trained
  Ended ended = Ended::converged;
  std::uint64_t iterations = 0;
  double regulariser = 0;       ///< 1/2 |w|^2, summed over the machines
  double loss = 0;              ///< of the training rows, in the mean and without C
  double margin = infinity;     ///< 1/|w|, the smallest of the machines
  std::size_t support = 0;      ///< rows with a coefficient in some machine
  std::size_t bounded = 0;      ///< variables at their upper bounds
  double error = 0;             ///< out of fold: share of wrong rows, or mean squared error
  double start_primal = 0;      ///< the primal here of the point before, (10.23); infinite: none
  double seconds = 0;           ///< of the machines of all rows
  double seconds_of_folds = 0;  ///< of those without one fold
};

struct TrainedPath {
  Outcome outcome = Outcome::classes;
  std::vector<PathPoint> points;
  double weight = 0;  ///< m: the rows, each with its weight; lambda = 1 / (C m)
  std::string solver, reason;
  /// Contradictions between the certificates and (10.23), (10.25) and (10.141); empty if all hold.
  std::vector<std::string> violations;
  Ended ended = Ended::converged;  ///< the worst
  double seconds = 0;
};

/// Throws Error for values that are none, not positive or in no order, for a task without a cost or
/// a kernel without a width, and where data and options do not fit together.
TrainedPath train_path(Dataset data, const PathOptions& options, const Context& context);

/// Where the optima of neighbouring points, known between dual and primal, contradict
///
///   R[f_C, C'] >= R[f_C', C']                   (10.23)
///   C/C' R[f_C', C'] <= R[f_C, C] <= R[f_C', C']   for C' > C   (10.25)
///   R[f_l', l'] >= R[f_l, l]   for l' > l, with R/(C m) for R and l = 1/(C m)   (10.141)
std::vector<std::string> contradictions(const std::vector<PathPoint>& points);

}  // namespace maxmargin
