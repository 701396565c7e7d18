#pragma once

#include "maxmargin/certify/known.hpp"

namespace maxmargin {

/// As certify, of a point at which f is known as well as is asked for.
Certified certify_known(const DualQp& qp, Solution solution, Known known);

}  // namespace maxmargin
