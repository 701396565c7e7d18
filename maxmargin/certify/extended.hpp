#pragma once

#include <cmath>
#include <span>

#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// sqrt(K_pp): no value of the row is larger than this times that of its column.
inline double scale_of(const Quadratic& K, std::size_t point) {
  return std::sqrt(std::abs(K.diagonal()[point]));
}

/// Whether K has products in long double, and they would not take minutes.
bool has_extended_product(const Quadratic& K, std::size_t nonzeros, const CertifyChoice& choice);

/// f = K x in long double, rounded once. Returns what f may be wrong by at point p, in units of
/// sqrt(K_pp).
double extended_product(const Quadratic& K, std::span<const double> x, std::span<double> f,
                        const Threads& threads);

}  // namespace maxmargin
