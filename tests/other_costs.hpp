#pragma once

#include "maxmargin/base/cost_model.hpp"

// Costs and sizes by which small problems go ways that only large ones go otherwise.
namespace maxmargin::other_costs {

/// Kernel values are worth caching, copying and sharing, however cheap; Newton steps always pay;
/// and no matrix is too small for what saves values.
inline CostModel dear_values() {
  CostModel costs;
  costs.touch_value = costs.read_value = costs.pick_value = costs.pick_cached_value = 0;
  costs.copy_value = costs.allot_value = 0;
  costs.assemble = costs.factor = 0;
  costs.second_sum = costs.fused_second_sum = 0;
  costs.engines.least_halved = 1;
  costs.engines.least_far_rows = 2;
  return costs;
}

/// Kernel values are computed anew each time; no Newton step pays, and no system of equations.
inline CostModel dear_memory() {
  CostModel costs;
  costs.touch_value = costs.read_value = costs.pick_value = costs.pick_cached_value = 1e9;
  costs.copy_value = costs.allot_value = 1e9;
  costs.assemble = costs.factor = costs.make_columns = 1e9;
  return costs;
}

}  // namespace maxmargin::other_costs
