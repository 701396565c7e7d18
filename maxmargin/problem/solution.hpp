#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "maxmargin/loss/block.hpp"

namespace maxmargin {

/// The answer of an observer: proceed, end as if a limit was reached, or end at once.
enum class Control { proceed, finish, cancel };

/// How a run ended. Only with `converged` the tolerances are met.
enum class Ended { converged, iteration_limit, time_limit, stalled, unbounded, cancelled };
std::string_view to_string(Ended ended);

/// When a solver may stop: both thresholds must hold. `kkt` is the largest violation of the
/// optimality conditions, m(a) - M(a); `relative_gap` is (10.9).
struct Stop {
  double kkt = 1e-3;
  double relative_gap = 1e-3;
  std::size_t iterations = std::numeric_limits<std::size_t>::max();
  double seconds = infinity;
};

struct Progress {
  std::string_view phase;  ///< "train", "certify", ...
  std::size_t iteration = 0;
  double primal = infinity, dual = -infinity, relative_gap = infinity, kkt = infinity;
  std::size_t active = 0, size = 0;  ///< variables that are not shrunk, and all of them
  double done = 0;                   ///< estimated share of the work done, 0 to 1
  double seconds = 0;                ///< since the start of the run
};

/// Called a few times a second, by one thread at a time. An empty observer lets everything proceed.
using Observer = std::function<Control(const Progress&)>;

struct Solution {
  std::vector<double> a;
  std::vector<double> lambda;
  std::vector<double> f;  ///< K s a at the points as the solver has it; empty if it has not
  Ended ended = Ended::stalled;
  std::size_t iterations = 0;
  /// Kernel values that were asked for and that a cache held, where the solver counts them.
  std::size_t values_asked = 0, values_found = 0;
  /// The best lower bound of the optimum that the solver met (10.21), which tells how many digits
  /// the certificate needs. It belongs to another point than the solution.
  double best_dual = -infinity;
  /// Of a solver that minimises another objective than the problem's (a regulariser of its own):
  /// that objective, and what it is at least, by the dual point that the gradient gives.
  double own_primal = infinity;
  double own_dual = -infinity;
};

}  // namespace maxmargin
