#pragma once

#include <span>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// The features that have the same value, other than zero, in all chosen rows.
std::vector<Index> constant_features(const Rows& rows, std::span<const Index> which);

}  // namespace maxmargin
