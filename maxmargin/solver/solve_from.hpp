#pragma once

#include "maxmargin/certify/known.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin {

/// Whose f a solution is judged by: one computed for that alone, or, with rounding allowed for, the
/// solver's, where it has one and float kernel values are enough.
enum class Judged { apart, by_solver };

/// solve() from a feasible point where f is known, for solvers that can start from one. Where the
/// solution is near, the certificate comes at the cost of the difference; where the point is
/// thought to be a solution and is, nothing else is done. The result has f.
Certified solve_from(const Known* start, const DualQp& qp, const Solver& solver,
                     const Context& context, Judged judged = Judged::apart);

}  // namespace maxmargin
