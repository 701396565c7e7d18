#pragma once

#include <vector>

#include "maxmargin/solver/smo/coupled_rows.hpp"

namespace maxmargin {

// Relative residual at which an equality row holds.
inline constexpr double equality_rounding = 1e-12;

/// A point within the bounds at which the pair rows hold: as given, or zero where possible;
/// residuals of the rows are distributed from the first variable on.
std::vector<double> first_point(const DualQp& qp, const RowKinds& kinds, std::vector<double> a);

}  // namespace maxmargin
