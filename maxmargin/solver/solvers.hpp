#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "maxmargin/certify/certify.hpp"
#include "maxmargin/solver/decomposition/decomposition.hpp"
#include "maxmargin/solver/gradient_descent/gradient_descent.hpp"
#include "maxmargin/solver/hulls/bayes_point.hpp"
#include "maxmargin/solver/hulls/perceptron.hpp"
#include "maxmargin/solver/interior_point/interior_point.hpp"
#include "maxmargin/solver/lagrangian/lagrangian.hpp"
#include "maxmargin/solver/newton/newton.hpp"
#include "maxmargin/solver/newton/reweighted.hpp"
#include "maxmargin/solver/one_variable/one_variable.hpp"
#include "maxmargin/solver/platt/platt.hpp"
#include "maxmargin/solver/primal_dual/primal_dual.hpp"
#include "maxmargin/solver/smo/smo.hpp"

namespace maxmargin {

/// The list of solvers: options, help texts and the conformance suite are derived from it.
using Solver = std::variant<Smo, InteriorPoint, PrimalDual, Lagrangian, GaussSeidel, Sor, AdaTron,
                            Platt, Decomposition, Chunking, PrimalNewton, GradientDescent,
                            Stochastic, ReweightedLeastSquares, MaxMarginPerceptron, BayesPoint>;
// Copies are then plain memory copies; otherwise every source would compile some fifty functions.
static_assert(std::is_trivially_copyable_v<Solver>);

/// Why a solver cannot take a problem, or nothing.
std::optional<std::string> refusal(const DualQp& qp, const Solver& solver);

/// Runs the solver and certifies its solution by other code. Where the certificate misses the
/// tolerances, the solution is not `converged`, whatever the solver says.
Certified solve(const DualQp& qp, const Solver& solver, const Context& context);

/// The solver that fits a problem, and the reason in one line.
struct Choice {
  Solver solver;
  std::string reason;
};
Choice choose_solver(const DualQp& qp, const Stop& stop, std::size_t memory_bytes,
                     const CostModel& costs = {});

/// Another solver for a problem on which that one has stalled, where it would not take long.
std::optional<Choice> choose_after_stall(const DualQp& qp, const Stop& stop,
                                         std::size_t memory_bytes, const Solver& stalled,
                                         const CostModel& costs = {});

/// Those of the list that do not refuse a problem, with this much memory to use.
std::vector<Solver> fitting_solvers(const DualQp& qp, const Stop& stop, std::size_t memory_bytes);

/// The solver of that name, with this much memory to use. Throws Error when there is none.
Solver named_solver(std::string_view name, const DualQp& qp, const Stop& stop,
                    std::size_t memory_bytes);

/// The same with options of its own.
Solver with_settings(const Solver& solver, const DualQp& qp, const Stop& stop,
                     std::size_t memory_bytes);

}  // namespace maxmargin
