#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/matrix/cache/row_cache.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/set/set_solver.hpp"

namespace maxmargin {

/// Gathers the kernel values of working sets, in memory that is reused.
class SetValues {
 public:
  /// The values over the points of `set`, from cached rows or computed; where coupled rows add to
  /// them, or variables cannot share a point in a SetSolver, over its variables. Stays until the
  /// next call.
  const SetKernel& fill(const Active& active, const CoupledRows& coupling,
                        std::span<const Index> set, const RowCache& cache, const Context& context);
  /// Of each variable of the set: its row among these values.
  std::span<const Index> numbers() const { return numbers_; }

 private:
  void gather(const Active& active, std::span<const Index> points, SetKernel& values,
              const RowCache& cache, const Context& context);
  void spread(std::span<const Index> set, const Threads& threads);
  void add(const CoupledRows& coupling, const Active& active, std::span<const Index> set,
           const Threads& threads);

  SetKernel over_variables_, over_points_, between_missing_;
  std::vector<Index> numbers_;
};

}  // namespace maxmargin
