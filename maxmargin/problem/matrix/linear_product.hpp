#pragma once

#include <span>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// y = X X'x in double over some of the rows, row which[i] for x[i] and y[i]: two passes over the
/// data, where kernel values would take as many as there are rows. The same bits for any number of
/// threads.
void linear_product(const Rows& rows, std::span<const Index> which, std::span<const double> x,
                    std::span<double> y, const Threads& threads);

}  // namespace maxmargin
