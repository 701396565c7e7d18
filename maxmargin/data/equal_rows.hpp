#pragma once

#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// For each row the first row with the same features (itself if there is none before it). Zeros
/// count as absent.
std::vector<Index> first_equal_rows(const Rows& rows, const Threads& threads = Threads(1));

/// What find_rows says of a row that is not there.
inline constexpr Index no_such_row = 0xffffffffu;

/// For each of `wanted` the first of `rows` with the same features, or no_such_row. Zeros count as
/// absent, and numbers are compared whatever they are stored as.
std::vector<Index> find_rows(const Rows& wanted, const Rows& rows, const Threads& threads);

}  // namespace maxmargin
