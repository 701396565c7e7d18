#pragma once

#include <vector>

#include "maxmargin/problem/context.hpp"
#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/solution.hpp"

namespace maxmargin {

/// The context of a solver, and where it starts.
struct Run : Context {
  std::vector<double> start = {};         ///< variables to start from; empty: the solver's choice
  Precision precision = Precision::fast;  ///< of the products at the start
  double seconds_before = 0;         ///< already spent on this problem, for limits and progress
  std::vector<double> start_f = {};  ///< K s a at the start, where it is known
};

}  // namespace maxmargin
