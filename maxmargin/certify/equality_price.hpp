#pragma once

#include <span>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The price of the residual of A a = d: some point of real numbers within the bounds satisfies
/// A a = d exactly, and its dual is smaller by at most this. It differs from `a` in a few variables
/// that have room to move. `q` are the derivatives of
/// a'Q~a/2, known up to `error`. Infinite where no such point is found; 0 where A a = d is exact.
double equality_price(const DualQp& qp, std::span<const double> a, std::span<const double> q,
                      std::span<const double> error);

}  // namespace maxmargin
