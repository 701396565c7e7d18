#pragma once

#include "maxmargin/certify/known.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin {

/// solve() from a feasible point where f is known, for solvers that can start from one. Where the
/// solution is near, the certificate comes at the cost of the difference. The result has f.
Certified solve_from(const Known* start, const DualQp& qp, const Solver& solver,
                     const Threads& threads, const Observer& observer = {});

}  // namespace maxmargin
