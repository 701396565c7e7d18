#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/row_cache.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/set_solver.hpp"

namespace maxmargin {

/// Brings the kernel values of working sets together; the memory is used again.
class SetValues {
 public:
  /// The values over the variables of `set`, from cached rows or computed, with what coupled rows
  /// add. The set is in the order of the pair rows and then of the points. Stays until the next
  /// call.
  const SetKernel& fill(const Active& active, const CoupledRows& coupling,
                        std::span<const Index> set, const RowCache& cache, const Threads& threads);

 private:
  void gather(const Active& active, std::span<const Index> points, SetKernel& values,
              const RowCache& cache, const Threads& threads);
  void spread(const Active& active, std::span<const Index> set, std::span<const Index> points,
              const Threads& threads);
  void add(const CoupledRows& coupling, const Active& active, std::span<const Index> set,
           const Threads& threads);

  SetKernel over_variables_, over_points_, between_missing_;
};

}  // namespace maxmargin
