#pragma once

#include <functional>

#include "maxmargin/problem/matrix/cache/value_cache.hpp"
#include "maxmargin/solver/run.hpp"

namespace maxmargin {

/// Runs a solver on the problem with a matrix that caches its values (cached_values.hpp), and
/// counts the hits in its solution.
Solution run_cached(const DualQp& qp, CachePolicy policy, std::size_t bytes, const Threads& threads,
                    const std::function<Solution(const DualQp&)>& body);

}  // namespace maxmargin
