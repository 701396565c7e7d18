#pragma once

#include <functional>
#include <vector>

#include "maxmargin/solver/run.hpp"
#include "maxmargin/solver/smo/coupled_rows.hpp"

namespace maxmargin {

/// Where to start from; nothing: where a solver without a hint does.
struct Start {
  std::vector<double> a;
  std::vector<double> lambda;  ///< of the equality rows, roughly
  double spread = 0;           ///< of the gradient under the decision function of the part
  std::size_t iterations = 0;  ///< spent on it
  bool hopeless = false;       ///< the parts of the problem do not look like the whole
};

/// Solves a problem from a start, to a few hundredths of the spread of its gradient.
using RoughSolver = std::function<Solution(const DualQp&, const Start&)>;

/// A start from the solution of a quarter of the points with four times their bounds, which is
/// found in the same way. Where most support vectors stand at their bounds, its decision function
/// tells for almost all variables at which bound they will stand: one product with K then replaces
/// the many visits that a solver pays to them. The decision function of a part says little where
/// most support vectors are free.
Start cascade_start(const DualQp& qp, const Threads& threads, const RoughSolver& solve);

}  // namespace maxmargin
