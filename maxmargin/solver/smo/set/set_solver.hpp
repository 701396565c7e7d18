#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/problem/context.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/set/inner.hpp"
#include "maxmargin/solver/smo/set/set_kernel.hpp"

namespace maxmargin {

/// How many variables working sets have.
struct SetSize {
  std::size_t largest, least, now;

  /// No more than there is room for rows in the cache.
  SetSize(const DualQp& qp, std::size_t cache_bytes, std::size_t most);
  /// After a set of `size` variables of which some moved.
  void adapt(std::size_t size, std::size_t moved, std::size_t steps);
};

/// Chooses working sets: the most violating variables, and the free ones of the last sets.
class SetChooser {
 public:
  std::vector<Index> choose(Active& active, const Active::Gradient& gradient, std::size_t most,
                            const Threads& threads);
  void forget() { last_.clear(); }

 private:
  std::vector<Index> last_;  ///< the newest first
};

/// Solves the problem within a working set: by pairs, and where these take too many steps, all free
/// variables at once now and then.
class SetSolver {
 public:
  /// Moves beta of `set` until its violation is at most `target`; carries its f along. `K`: over
  /// the points of the set, which two variables of one pair row may share if they have no
  /// curvature. Returns the number of steps.
  std::size_t solve(Active& set, const SetKernel& K, double target, const Context& context);

 private:
  void lay_out(const Active& set, const SetKernel& K);
  void load(const Active& set);
  void carry_over(Active& set, const SetKernel& K) const;

  InnerProblem inner_;
  std::vector<std::size_t> position_;  ///< of each variable in the inner problem
  std::vector<unsigned char> number_;  ///< of each variable at its position
  SetKernel padded_;
};

}  // namespace maxmargin
