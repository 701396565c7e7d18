#pragma once

#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// Two numbers with the optimum between them, all rounding included (docs/certificate.md).
struct Enclosure {
  double primal = infinity;  ///< an upper bound of the primal objective of (a, lambda)
  double dual = -infinity;   ///< a lower bound of the dual objective of a
  /// How far apart the two would be without any rounding error; the rest of primal - dual is what
  /// rounding may have changed.
  double gap = infinity;
};

/// A number and how far from the true one it may be.
struct Near {
  double value, error;
};

/// The largest phi*(linear + rest) of what `rest` may be, and phi(t); with the rounding of both.
Near highest_conjugate(const Block& block, const Near& rest);
Near value_at(const Block& block, double t);

/// What f may be wrong by: at point p by at most(p) sqrt(K_pp).
struct ProductError {
  double all = 0;                     ///< at any point
  std::vector<double> of_point = {};  ///< where it is known for each of them, no more than `all`

  double at(std::size_t point) const { return of_point.empty() ? all : of_point[point]; }
};

/// The primal and the dual objective of a point within its bounds, from f = K s a at the points,
/// which has this error. What A a = d is missed by is charged to the dual: moved onto variables
/// that have room for it. K has to be positive semi-definite; a point outside its bounds has no
/// dual.
Enclosure enclose(const DualQp& qp, std::span<const double> a, std::span<const double> f,
                  const ProductError& error, std::span<const double> lambda);

/// How wrong K x may be at point p, in units of sqrt(K_pp), computed by K.multiply(): the error
/// of kernel values and of the sums, for x with these entries.
double product_error(const Quadratic& K, std::span<const double> x, Precision precision);

/// The same of ExtendedProducts, before they are rounded to doubles.
double extended_product_error(const Quadratic& K, std::span<const double> x);

/// The same for beta = s a, which is rounded when the variables of a point are added up.
double coefficient_error(const DualQp& qp, std::span<const double> a);

/// A lower bound of the part of primal - dual that an `error` of f makes: no need to compute f
/// where this is too much already.
double least_charge(const DualQp& qp, std::span<const double> a, double error);

}  // namespace maxmargin
