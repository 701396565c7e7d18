#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/problem/matrix/capabilities.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/pairs/grouped_gradient.hpp"

namespace maxmargin {

/// SMO's pairs, chosen by second order among all variables whose kernel rows are cached, where rows
/// are sparse (narrow Gaussians): a step costs as much as its two rows have non-negligible values.
/// Where most support vectors are free this takes fewer rows than working sets do, whose variables
/// are mostly far from each other. Points without a cached row wait until those with one violate
/// little in comparison; then the rows of the most violating ones are computed.
class TruncatedPairs {
 public:
  /// Steps between two looks at limits: the points are gathered again each time.
  static constexpr std::size_t at_once = 16384;

  /// Whether K caches such rows, and all equality rows are pair rows.
  static bool can_take(const Active& active, const CoupledRows& coupling);

  explicit TruncatedPairs(Active& active);

  struct Result {
    std::size_t steps = 0;
    double decrease = 0;       ///< of the objective
    std::size_t computed = 0;  ///< rows that were not cached before
    bool lacks_room = false;   ///< for rows: pairs cannot go on
  };
  /// Moves beta of the active problem until its violation is at most `target` or `most_steps` were
  /// done; carries its f along.
  Result improve(double target, std::size_t most_steps, const Threads& threads);

 private:
  /// What a step needs to know of a variable, side by side in memory.
  struct alignas(64) Variable {
    double beta, lower, upper, linear, curvature;
    Index next;  ///< of the same point
  };
  struct Point {
    double diagonal;
    Index first, growing, falling;  ///< variables: of the list, and those that count
  };
  /// A point without a row, what its variables add to its negative gradient.
  struct Missing {
    double growth, fall;
    Index point;
  };
  struct Pair {
    std::size_t up, down;  ///< points
    double value;          ///< of the kernel between them
  };

  void gather(const Active& active);
  Missing look(std::size_t point);
  void show(std::size_t point);
  Pair choose(const GroupedGradient::End& high, const GroupedGradient::End& low,
              const BlockRow& row) const;
  double step(const Pair& pair);
  void step_until(double target, std::size_t most_steps, Result& result);
  Active::Range missing_ends() const;
  std::vector<Index> worst_missing(const Active::Range& ends) const;
  void compute_rows(const Active::Range& ends, const Threads& threads, Result& result);
  BlockRow row(std::size_t point) const { return *rows_.truncated_row(static_cast<Index>(point)); }
  double curvature(std::size_t point, Index variable) const {
    return points_[point].diagonal + variables_[variable].curvature;
  }

  Active& active_;
  const StoredRows& rows_;
  std::vector<Variable> variables_;
  std::vector<Point> points_;
  std::vector<Missing> missing_;
  GroupedGradient gradient_;
  double base_ = 0;  ///< of the gradient: nearer to zero they lose less when rounded to float
};

}  // namespace maxmargin
