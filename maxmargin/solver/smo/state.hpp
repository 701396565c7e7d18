#pragma once

#include <vector>

#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/matrix/cache/row_cache.hpp"
#include "maxmargin/solver/smo/active.hpp"
#include "maxmargin/solver/smo/cascade.hpp"
#include "maxmargin/solver/smo/set/set_solver.hpp"
#include "maxmargin/solver/smo/smo.hpp"

namespace maxmargin {

/// The state of a run of SMO, shared by strategies, shrinker and stall watch.
struct SmoState {
  SmoState(const DualQp& problem, const Smo& with, const Run& context, const Start& start);

  const DualQp& qp;
  const Smo& options;
  const Run& run;
  RowKinds kinds;
  CoupledRows coupling;  ///< the other equality rows and their multipliers
  Active active;         ///< the part of the problem that is not shrunk away
  SetSize set_size;
  RowCache cache;
  std::vector<double> beta;  ///< of all variables; the active ones' as of collect()
  double goal;               ///< violation at which the active problem is solved
  std::size_t steps = 0;
  double work = 0;  ///< an estimate, in nanoseconds of one core

  bool is_shrunk() const { return active.size() < qp.size(); }
  /// Copies the active variables into beta.
  void collect();
  /// `a` from beta.
  std::vector<double> variables() const;
  /// The coefficient of each point of the whole problem, from beta.
  std::vector<double> point_coefficients() const;
  double largest_diagonal() const;

  /// The multipliers of all equality rows: that of a pair row is in the middle of its gradient.
  std::vector<double> multipliers(const Active::Gradient& gradient) const;
  /// Adds the terms of the coupled rows to the linear terms of the active variables.
  void apply_multipliers();
  /// Whether all equality rows hold.
  bool keeps_all_rows();
};

}  // namespace maxmargin
