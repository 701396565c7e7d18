#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/inner.hpp"

namespace maxmargin {

/// Picks working sets one after another: the worst violators, and from the last set those that have
/// not reached a bound.
class SetChooser {
 public:
  std::vector<Index> choose(Active& active, const Active::Levels& levels, std::size_t most,
                            const Threads& threads);
  void forget() { last_.clear(); }

 private:
  std::vector<Index> last_;  ///< the newest first
};

/// Kernel values over the variables of a set, in their order: rows of `stride` floats, which is a
/// multiple of 32; values behind the last variable are finite.
struct SetKernel {
  std::size_t stride = 0;
  AlignedVector<float> values;

  void resize(std::size_t size);
  float* row(std::size_t k) { return values.data() + k * stride; }
  const float* row(std::size_t k) const { return values.data() + k * stride; }
};

/// Solves the problem within a working set.
class SetSolver {
 public:
  /// Moves beta of `set` until its violation is at most `target`; carries its f along. Returns the
  /// number of steps.
  std::size_t solve(Active& set, const SetKernel& K, double target);

 private:
  void load(const Active& set, const std::vector<std::size_t>& place);

  InnerProblem inner_;
  SetKernel padded_;
};

}  // namespace maxmargin
