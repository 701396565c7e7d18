#pragma once

#include <variant>

#include "maxmargin/kernel/chi_squared.hpp"
#include "maxmargin/kernel/custom.hpp"
#include "maxmargin/kernel/distance_rbf.hpp"
#include "maxmargin/kernel/laplacian.hpp"
#include "maxmargin/kernel/linear.hpp"
#include "maxmargin/kernel/polynomial.hpp"
#include "maxmargin/kernel/precomputed.hpp"
#include "maxmargin/kernel/rbf.hpp"
#include "maxmargin/kernel/sigmoid.hpp"

namespace maxmargin {

/// The list of kernels: help texts, options, model files and tests are derived from it.
using Kernel = std::variant<Linear, Polynomial, Rbf, Sigmoid, Laplacian, ChiSquared, DistanceRbf,
                            Precomputed, Custom>;

}  // namespace maxmargin
