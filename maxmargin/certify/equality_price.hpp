#pragma once

#include <span>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// What it costs the dual that A a = d holds only to rounding: there is a point within the bounds
/// that satisfies A a = d exactly, as real numbers go, and whose dual is at most this much smaller.
/// It differs from `a` in a few variables that have room to move. `q` are the derivatives of
/// a'Q~a/2, known up to `error`. Infinite where no such point is found; 0 where A a = d is exact.
double equality_price(const DualQp& qp, std::span<const double> a, std::span<const double> q,
                      std::span<const double> error);

}  // namespace maxmargin
