#pragma once

#include "maxmargin/solver/interior_point/interior_point.hpp"

namespace maxmargin {

/// Path following for K by a matrix Z Z' of few columns close to it (S7). With
///
///   r = (K - Z Z') beta    at the last solution,
///
/// the problem over Z Z' with p + s r in the place of p has the conditions of optimality of the
/// problem over K, but for what beta still changes: solving it again and again is a Newton
/// iteration whose matrix is nearly right, and gains about as many digits each time as Z Z' has. A
/// round costs one product with K, m^2 kernel values, and what the path costs at low rank, m n^2 an
/// iteration; memory is that of Z, m n numbers.
///
/// Z is chosen by Cholesky factors with pivots until options.low_rank of K's trace is left. If less
/// is left in all than a quarter of the least curvature, each round leaves a quarter of the error
/// at most; otherwise it may gain nothing, and less is left in the next attempt. Ends `stalled`
/// where K has no such Z within the memory.
Solution run_low_rank(const DualQp& qp, const InteriorPoint& options, const Run& run);

/// The columns that fit into this memory, and are worth it.
std::size_t most_low_rank_columns(std::size_t points, std::size_t memory_bytes);

}  // namespace maxmargin
