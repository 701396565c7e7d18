#pragma once

#include <memory>

#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// K + 1: the kernel of functions w'Phi(x) + b whose price is 1/2 (|w|^2 + b^2). A problem over it
/// has no equality row, and b = sum of beta.
std::shared_ptr<const Quadratic> make_biased(std::shared_ptr<const Quadratic> K);

}  // namespace maxmargin
