#pragma once

#include <cstddef>
#include <memory>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// The same matrix for one problem after another, where most values are negligible (narrow
/// Gaussians): the others of a row are cached once they have been computed, within `bytes`. One
/// thread at a time may use it. Where few values are negligible it is `K` itself.
std::shared_ptr<const Quadratic> cache_truncated_rows(std::shared_ptr<const Quadratic> K,
                                                      std::size_t bytes,
                                                      const CostModel& costs = {});

}  // namespace maxmargin
