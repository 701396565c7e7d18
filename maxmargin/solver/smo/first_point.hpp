#pragma once

#include <vector>

#include "maxmargin/solver/smo/coupled_rows.hpp"

namespace maxmargin {

// Equality rows hold when they do to this, relative to their terms.
inline constexpr double equality_rounding = 1e-12;

/// A point within the bounds that keeps the pair rows: as given, or zero where possible; what the
/// rows lack is made up from the first variable on.
std::vector<double> first_point(const DualQp& qp, const RowKinds& kinds, std::vector<double> a);

}  // namespace maxmargin
