#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "maxmargin/model/model.hpp"
#include "maxmargin/problem/matrix/low_rank/approximate.hpp"
#include "maxmargin/solver/improve/improve.hpp"
#include "maxmargin/solver/solvers.hpp"
#include "maxmargin/task/task.hpp"

namespace maxmargin {

struct TrainOptions {
  Task task{};
  bool l1 = false;  ///< sum |beta_j| in place of 1/2 |w|^2: a linear program, solved exactly
  Kernel kernel = Rbf{};
  Stop stop{};
  std::string solver = "auto";       ///< a name from the list of solvers, or "auto"
  std::optional<Solver> settings{};  ///< that solver with options of its own
  /// Called with the solver of a machine before its training, by several threads at a time where
  /// there are several machines.
  std::function<void(const Choice&)> chosen{};
  /// False: objective and violation are those of the solver's own decision values, where these are
  /// good enough for the tolerance, and the model has no hash of its data.
  bool certified = true;
  std::size_t memory_bytes = 0;  ///< budget of the kernel cache; 0: half of the memory
  std::optional<ScalingKind> scaling{};
  /// Tests whether a precomputed matrix is positive semi-definite with all of its rows; false: with
  /// all of up to mercer_rows, with a sample of more.
  bool mercer_full = false;
  std::vector<ParametricFunction> functions{};  ///< unpenalised, besides the bias
  std::optional<Approximate> approximate{};     ///< the kernel by few basis functions
  bool true_bound = false;  ///< of an approximated kernel: see Trained::true_dual
  /// With approximate: each machine raises its rank until its optimum with the true kernel is known
  /// to this relative gap, see improve.hpp; 0: one approximation for all machines, as it is.
  double true_gap = 0;
  /// A model of much the same data to start from, see start.hpp; may be null.
  std::shared_ptr<const Model> start{};
  int probability_folds = 0;  ///< of the cross-validation that gives probabilities; 0: none
  std::uint64_t seed = 0;
};

/// The rounds in which the rank of a machine was raised.
struct Improvement {
  std::vector<ImproveRound> rounds;
  ImproveLimit limit = ImproveLimit::solver;
};

struct Trained {
  Model model;
  std::string solver;            ///< its name
  std::string reason;            ///< why it was chosen
  Ended ended = Ended::stalled;  ///< the worst of its machines
  std::string obstacle;          ///< why it has not converged, where that is known
  std::uint64_t iterations = 0;  ///< summed
  /// Kernel values asked for and found in a cache, summed, where the solver counts them.
  std::uint64_t values_asked = 0, values_found = 0;
  Certificate certificate;  ///< objectives summed, violations worst
  /// Summed, where the solver minimises another objective than the one that is certified.
  double own_primal = infinity, own_dual = -infinity;
  std::size_t merged_rows = 0;  ///< rows that were equal to another and shared its variable
  /// With approximate: the number of basis functions, and the residual of the trace of K.
  std::size_t rank = 0;
  double residual = 0;
  /// With true_bound or true_gap: the optimum with the exact kernel lies between this and
  /// certificate.primal (10.3.4).
  double true_dual = -infinity;
  std::vector<Improvement> improvement{};  ///< with true_gap: of each machine
  double train_seconds = 0;
  double certify_seconds = 0;
  double calibrate_seconds = 0;  ///< that probabilities took
};

/// data -> formulate -> solve -> certify -> model. Takes the data by value so that scaling needs no
/// second copy: move it in. Throws Error when data and options do not fit together.
Trained train(Dataset data, const TrainOptions& options, const Context& context);

/// gamma = 1 / (features * variance of all values), the width that fits the scale of the data.
double gamma_scale(const Rows& rows);

}  // namespace maxmargin
