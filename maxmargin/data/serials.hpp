#pragma once

#include <optional>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// LIBSVM's form of a precomputed kernel has the number of each row, from 1 on, as its index 0, and
/// K(row, j) as its index j.
///
/// The first row whose first feature is not its number; nothing where all are.
std::optional<std::size_t> row_without_serial(const Rows& rows);

/// The rows without their first feature, all others numbered one lower.
Features without_serials(const Rows& rows);

}  // namespace maxmargin
