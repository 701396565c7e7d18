#pragma once

#include <optional>
#include <span>
#include <utility>

#include "maxmargin/certify/known.hpp"
#include "maxmargin/train/machines/machines.hpp"

// Restarts (T2, LWK 10.1.2): a machine starts from the dual variables of an earlier one. For a new
// cost they are scaled, a' = a C'/C, which keeps the sums; for a new width of the kernel they stay;
// new rows start at 0, and rows that are gone are dropped. The result is projected to the bounds
// and equality rows with the least change.

namespace maxmargin {

/// Whether a model has the variables of its machines, as the coefficients of support vectors.
bool keeps_dual_variables(const Model& model);

/// Throws Error where a model cannot be the start of these machines: another task, other classes or
/// another scheme of them, another kernel, another scaling, or no dual variables.
void require_start_fits(const Model& model, const Subproblems& problems,
                        const TrainOptions& options);

/// Finds the model's support vectors among the rows, by number where the data is the same and by
/// their values otherwise, and gives each machine its coefficients. Throws Error where none of them
/// is found.
void take_start(const Model& model, const TrainOptions& options, Prepared& prepared,
                const Threads& threads);

/// The chosen solver, if it can start from given variables. Where it cannot: another one that does,
/// if the choice was free, else an Error.
Choice starting(Choice choice, const DualQp& qp, const TrainOptions& options, std::size_t memory);

/// The variables that have these coefficients, within their bounds, and f there. They satisfy the
/// equality rows, too, but for primal-dual, which starts from any point of the box. Nothing where
/// there is no such point.
std::optional<Known> started(const Formulated& formulated,
                             std::span<const std::pair<Index, double>> start, const Solver& solver,
                             const Threads& threads);

}  // namespace maxmargin
