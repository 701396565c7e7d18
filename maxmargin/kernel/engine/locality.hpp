#pragma once

#include <vector>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/kernel/kernels.hpp"

namespace maxmargin {

/// Kernel values below this may be taken as zero: with any realistic coefficients and number of
/// rows, their sum is below the rounding error of any other value.
inline constexpr double negligible_value = 1e-24;

/// Squared distances from which on a kernel's values are negligible; infinite if there is no such.
double negligible_from(const Form& form);

/// The share of pairs of rows, in a sample, whose kernel value is not negligible; 1 for so few rows
/// (costs.engines.least_far_rows) or so many features that it does not matter.
double nonzero_share(const Form& form, const Rows& rows, const CostModel& costs = {});

/// Whether most pairs of rows are far apart for this kernel.
bool are_mostly_far(const Kernel& kernel, const Rows& rows, const CostModel& costs = {});

/// The numbers in `which` in an order that makes close rows neighbours, so that whole blocks of
/// kernel values need not be computed where most rows are far apart.
std::vector<Index> neighbours_together(const Rows& rows, std::vector<Index> which);

}  // namespace maxmargin
