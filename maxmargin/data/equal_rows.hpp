#pragma once

#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// For each row the first row with the same features (itself if there is none before it). Zeros
/// count as absent.
std::vector<Index> first_equal_rows(const Rows& rows, const Threads& threads = Threads(1));

}  // namespace maxmargin
