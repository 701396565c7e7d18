#pragma once

#include <cstddef>

namespace maxmargin {

// An inner loop of chains over all labels of a token, vectorised, with the same bits on any
// machine; linalg/class_sums.hpp has the others.

/// to[l] = max over k of from[k] + pair[k labels + l]
void best_before(const double* from, const double* pair, std::size_t labels, double* to);

}  // namespace maxmargin
