#pragma once

#include <optional>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// How far A a is from d: the largest |A a - d|, each row relative to the size of its terms.
double equality_defect(const DualQp& qp, std::span<const double> a);

/// The point nearest to `a` that satisfies A a = d to rounding and the bounds. Variables strictly
/// within their bounds move first, and by no more than they can; only where that does not suffice
/// the others leave their bounds. Nothing where there is no such point.
std::optional<std::vector<double>> nearest_feasible(const DualQp& qp, std::span<const double> a);

/// The same where only some variables may leave their bounds: those whose `slope`, the derivative
/// of the objective and the rows' prices, is at most `steepest`, so that moving them spoils little.
std::optional<std::vector<double>> nearest_feasible(const DualQp& qp, std::span<const double> a,
                                                    std::span<const double> slope, double steepest);

/// The same with the smallest of the steepnesses 0, `first`, 10 `first`, ... below `last` that
/// suffices.
std::optional<std::vector<double>> gently_feasible(const DualQp& qp, std::span<const double> a,
                                                   std::span<const double> slope, double first,
                                                   double last);

}  // namespace maxmargin
