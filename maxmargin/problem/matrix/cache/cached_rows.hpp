#pragma once

#include <cstddef>
#include <memory>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The same matrix with a cache of its rows within `bytes`, which several problems over it use one
/// after another. Rows that are about as fast
/// to compute as to read, or that are products of few columns, are not cached: then it is `K`
/// itself.
std::shared_ptr<const Quadratic> cache_rows(std::shared_ptr<const Quadratic> K, std::size_t bytes,
                                            const CostModel& costs = {});

}  // namespace maxmargin
