#pragma once

#include "maxmargin/certify/known.hpp"
#include "maxmargin/solver/solvers.hpp"

namespace maxmargin {

/// The f by which a solution is judged: computed for that alone, or the solver's own with an
/// allowance for rounding, where it has one and float kernel values are enough.
enum class Judged { apart, by_solver };

/// A warm start: solve() from a feasible point where f is known, for solvers that can start from
/// one. Where the solution differs in few variables, the certificate costs a product with these;
/// where the point has multipliers and is a solution, it is only certified. The result has f.
Certified solve_from(const Known* start, const DualQp& qp, const Solver& solver,
                     const Context& context, Judged judged = Judged::apart);

}  // namespace maxmargin
