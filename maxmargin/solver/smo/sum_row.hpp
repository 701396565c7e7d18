#pragma once

#include <vector>

#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// Makes a problem with variables in no pair row (a machine without a bias) into one where all are
/// in one, by a slack variable t on a point whose kernel values are all zero:
///
///   sum of s_v a_v over those variables  +  t  =  0
///
/// t costs nothing and its bounds cannot be reached, so that the multiplier of the row is 0 at the
/// optimum and every point of the one problem is a point of the other.
struct SumRow {
  /// Every variable needs two finite bounds. `in_pair_row`: of each variable.
  SumRow(const DualQp& qp, const std::vector<bool>& in_pair_row);

  /// A point of the problem as given, with the sum that belongs to it; none where there is none.
  std::vector<double> extended(std::vector<double> a) const;
  /// A solution of the extended problem, as one of the problem given.
  static Solution reduced(Solution solution);

  DualQp qp;  ///< the extended problem: the variable, the point and the row are the last ones
};

}  // namespace maxmargin
