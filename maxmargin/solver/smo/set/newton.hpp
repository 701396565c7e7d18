#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/problem/context.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/set/set_kernel.hpp"

namespace maxmargin {

/// The result of Newton steps on the free variables.
struct NewtonMove {
  std::vector<Index> variables;  ///< those that moved
  std::vector<double> change;    ///< of their beta
  std::vector<double> shift;     ///< of the multipliers of the coupled rows
  bool whole = false;            ///< the last step was not cut short by a bound
};

/// Newton's method on the free variables (an active set method): solves (K_FF + D) d = F_F - E' nu
/// with E d = the residual of the equality rows E (none of the pair rows), fixes variables that
/// would cross a bound there as long as they are few, goes as far as the bounds allow, fixes those
/// that have reached one and goes on with the rest, with `most_steps` factorisations at most.
/// `active` is not changed.
/// Close to the optimum the free variables no longer change, and one such step is as good as any
/// number of pairs. O(free^3) for each step; no move if the free variables share points or their
/// matrix is not definite.
NewtonMove newton_move(const Active& active, const CoupledRows& coupling,
                       std::span<const Index> free, int most_steps, const Context& context);

/// The same within a working set, whose kernel values are given.
NewtonMove newton_move(const Active& set, const SetKernel& K, std::span<const Index> free,
                       int most_steps, const Context& context);

}  // namespace maxmargin
