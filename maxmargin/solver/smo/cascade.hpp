#pragma once

#include <functional>
#include <vector>

#include "maxmargin/solver/run.hpp"
#include "maxmargin/solver/smo/coupled_rows.hpp"

namespace maxmargin {

/// A warm start; empty: the solver's own.
struct Start {
  std::vector<double> a;
  std::vector<double> lambda;  ///< of the equality rows, roughly
  double spread = 0;           ///< of the gradient under the decision function of the part
  std::size_t iterations = 0;  ///< spent on it
  bool hopeless = false;       ///< the decision function of a part predicts too little
};

/// Solves a problem from a start, to a few hundredths of the spread of its gradient.
using RoughSolver = std::function<Solution(const DualQp&, const Start&)>;

/// A warm start by recursive sampling: the solution of a quarter of the points with four times
/// their bounds, which starts in the same way. Where most support vectors are bounded, its decision
/// function predicts the bound of almost every variable, and one product with K replaces many
/// steps. Where most are free it predicts little. Of a sample with fewer points than the costs say
/// there is none.
Start cascade_start(const DualQp& qp, const Context& context, const RoughSolver& solve);

}  // namespace maxmargin
