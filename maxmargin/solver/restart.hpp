#pragma once

#include <optional>
#include <vector>

#include "maxmargin/solver/smo/set/set_kernel.hpp"
#include "maxmargin/solver/solve_from.hpp"

namespace maxmargin {

/// A solved problem that is solved again with other bounds and sums, as without some of its rows.
/// Knows the part of it that such a change is likely to move: the free variables, and the bounded
/// ones with the smallest multipliers. Where it is small, it is solved first, as one working set of
/// SMO with the others fixed; then little is left to do in the whole. Where most support vectors
/// are bounded one cannot predict which of them will move, and there is no such part.
class Restart {
 public:
  Restart() = default;
  /// Of a problem and its solution; no part where its kernel values take more than `bytes`.
  Restart(const DualQp& whole, const Certified& solved, std::size_t bytes, const Context& context);

  /// solve_from() the solution `from` of the whole problem, or of one that has changed less: made
  /// feasible, then improved by solving the part where that pays. Its steps count as iterations.
  Certified solve(const DualQp& qp, const Certified& from, const Solver& solver,
                  const Context& context, Judged judged = Judged::apart) const;

  /// Whether the part is small enough to be of use.
  bool pays() const { return !variables_.empty(); }

  struct Improved {
    Known at;
    std::size_t steps = 0;
  };
  /// `qp` is the problem with other bounds and sums, `start` a feasible point of it: a better one,
  /// where the violation among the variables of the part is at most `kkt`. `known`: another point,
  /// such as the solution that the part was made of.
  Improved improve(const DualQp& qp, std::vector<double> start, const Known& known, double kkt,
                   const Context& context) const;

 private:
  static constexpr Index none = 0xffffffffu;

  std::vector<Index> variables_;
  std::vector<Index> position_;  ///< of each variable of the whole among these, or none
  SetKernel K_;                  ///< over these
};

/// The warm start of a changed problem: the variables of the one before, clamped to the bounds and
/// made feasible with the least change, by the free ones and then by the bounded ones with the
/// smallest multipliers: a little of each would cost a solver a visit to all. Nothing where there
/// is no such point.
std::optional<std::vector<double>> start_from_solution(const DualQp& qp, const Certified& with);

}  // namespace maxmargin
