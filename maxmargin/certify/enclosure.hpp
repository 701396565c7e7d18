#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// Two numbers with the optimum between them, all rounding included (docs/certificate.md).
struct Enclosure {
  double primal = infinity;  ///< an upper bound of the primal objective of (a, lambda)
  double dual = -infinity;   ///< a lower bound of the dual objective of a
  /// primal - dual without any rounding error; what primal - dual has more is charged for rounding.
  double gap = infinity;
};

/// A computed number and a bound of its error.
struct Near {
  double value, error;
};

/// The largest phi*(linear + rest) over the enclosure of `rest`, and phi(t); each with its rounding
/// error.
Near highest_conjugate(const Block& block, const Near& rest);
Near value_at(const Block& block, double t);

/// A bound of the error of f: at point p it is at most(p) sqrt(K_pp).
struct ProductError {
  double all = 0;                     ///< at any point
  std::vector<double> of_point = {};  ///< where it is known for each of them, no more than `all`

  double at(std::size_t point) const { return of_point.empty() ? all : of_point[point]; }
};

/// The primal and the dual objective of a point within its bounds, from f = K s a at the points,
/// which has this error. The residual of A a = d is charged to the dual, as moves of variables
/// that have room for it. K has to be positive semi-definite; a point outside its bounds has no
/// dual.
Enclosure enclose(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                  const ProductError& error, std::span<const double> lambda);

/// A bound of the error of K.multiply(x) at point p, in units of sqrt(K_pp): that of kernel values
/// and that of sums.
double product_error(const Quadratic& K, std::span<const double> x, Precision precision);

/// The same of ExtendedProducts, before they are rounded to doubles.
double extended_product_error(const Quadratic& K, std::span<const double> x);

/// The same for beta = s a, which is rounded when the variables of a point are added up.
double coefficient_error(const DualQp& qp, std::span<const double> a);

/// A lower bound of what an `error` of f adds to primal - dual: where that exceeds the gap asked
/// for, f need not be computed.
double least_charge(const DualQp& qp, std::span<const double> a, double error);

}  // namespace maxmargin
