#pragma once

#include <cstddef>
#include <memory>

#include "maxmargin/problem/matrix/cache/value_cache.hpp"

namespace maxmargin {

/// The same matrix, its kernel values cached within `bytes` as the policy says: whole rows, of
/// which the least recently used is evicted first, or single values; with `function` nothing is
/// cached, and it is `K` itself. Products in double are those of K. Restrictions cache as much
/// again. `use` counts what was asked for and found, once the matrix is gone. One thread at a time
/// may ask.
std::shared_ptr<const Quadratic> cache_values(std::shared_ptr<const Quadratic> K,
                                              CachePolicy policy, std::size_t bytes,
                                              std::shared_ptr<CacheUse> use,
                                              const Threads& threads);

}  // namespace maxmargin
