#pragma once

#include <vector>

#include "maxmargin/certify/known.hpp"
#include "maxmargin/solver/smo/set/set_kernel.hpp"

namespace maxmargin {

/// The part of a solved problem that a change of some bounds is likely to move: the variables
/// between their bounds, and those that stand at one for the least reason. Where it is small, it is
/// solved first, as one working set, with the others standing still; then little is left to do in
/// the whole. Where most of what is not zero stands at a bound, other variables leave theirs than
/// could be told, and there is no such part.
class NearPart {
 public:
  NearPart() = default;
  /// Of a problem and its solution; none where its kernel values take more than `bytes`.
  NearPart(const DualQp& whole, const Certified& solved, std::size_t bytes, const Threads& threads);

  /// Whether it is small enough to be of use.
  bool pays() const { return !variables_.empty(); }

  struct Solved {
    Known at;
    std::size_t steps = 0;
  };
  /// `qp` is the problem with other bounds and sums, `start` a feasible point of it: a better one,
  /// where the violation among the variables of the part is at most `kkt`. `known`: another point,
  /// such as the solution that the part was made of.
  Solved solve(const DualQp& qp, std::vector<double> start, const Known& known, double kkt,
               const Threads& threads) const;

 private:
  static constexpr Index none = 0xffffffffu;

  std::vector<Index> variables_;
  std::vector<Index> place_;  ///< of each variable of the whole among these, or none
  SetKernel K_;               ///< over these
};

/// The derivative of the objective and the rows' prices by each variable, at a solution.
std::vector<double> slopes_at(const DualQp& qp, const Certified& solved);

}  // namespace maxmargin
