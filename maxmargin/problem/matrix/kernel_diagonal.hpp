#pragma once

#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/kernels.hpp"

namespace maxmargin {

/// A diagonal of a kernel matrix as it is. Throws Error where sums of such values overflow, or all
/// of them are too small for float.
std::vector<double> checked_diagonal(std::vector<double> diagonal);
/// K(x, x) of all rows. A bounded map hides sums that overflow, and whose differences are no
/// numbers: these throw as well.
std::vector<double> diagonal_of(const Kernel& kernel, const Rows& rows, const Threads& threads);

}  // namespace maxmargin
