#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/matrix/cache/row_cache.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/set/inner.hpp"

namespace maxmargin {

/// SMO's pairs, chosen by second order among all variables whose kernel rows are cached. Where most
/// support vectors are free and working sets take the same rows again and again, this takes fewer
/// rows. Points without a cached row wait until those with one violate little in comparison; then
/// the rows of the most violating ones are computed.
class CachedPairs {
 public:
  /// Steps between two looks at limits: the points are gathered again each time.
  static constexpr std::size_t at_once = 8192;

  /// Whether all equality rows are pair rows, and the cache has room for all kernel rows.
  static bool can_take(const Active& active, const CoupledRows& coupling, const RowCache& cache);

  CachedPairs(Active& active, RowCache& cache);

  struct Result {
    std::size_t steps = 0;
    double decrease = 0;  ///< of the objective
    double work = 0;      ///< nanoseconds of one core, roughly
  };
  /// Moves beta of the active problem until its violation is at most `target` or `most_steps` were
  /// done; carries its f along.
  Result improve(double target, std::size_t most_steps, const Context& context);

 private:
  std::size_t position(std::size_t row, std::size_t point) const {
    return inner_.begin[row] + point;
  }
  /// Of one pair row: the ends of the points with kernel rows, or without.
  Active::Range ends(std::size_t row, bool cached) const;
  std::vector<Index> worst_missing(const Active::Gradient& ends) const;
  void show(std::size_t point);

  Active& active_;
  RowCache& cache_;
  InnerProblem inner_;
  std::vector<Index> slot_;  ///< of each variable, at its position
};

}  // namespace maxmargin
