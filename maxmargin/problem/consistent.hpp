#pragma once

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// Throws Error where one variable or one equality row by itself shows that a problem has no
/// solution: bounds in the wrong order, NaNs, a sum that no coefficients within their
/// bounds can have. Rows that contradict each other are left to the solvers.
void require_consistent(const DualQp& qp);

}  // namespace maxmargin
