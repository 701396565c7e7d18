#pragma once

#include <memory>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"
#include "maxmargin/problem/matrix/low_rank/low_rank.hpp"

namespace maxmargin {

/// Where Newton's method on the primal stands: f = K beta, or f = Z w where K = Z Z'.
struct PrimalPoint {
  std::vector<double> coefficients;  ///< beta, or w
  std::vector<double> f;             ///< at the points
  std::vector<double> lambda;
  /// Of a step by the points: the variables at its end, which have more digits than -h tells.
  std::vector<double> a = {};
};

/// Which parabola stands for a piecewise quadratic loss.
enum class Parabola {
  tangent,  ///< its own second derivative: D = da / d(-h), 0 at a bound (Newton)
  chord     ///< its slope over the residual: D = a / e, e = -h - p (re-weighted least squares)
};

/// What the losses say at a point: the dual variables a = argmax phi*(-h), and the curvatures D.
struct DualPoint {
  std::vector<double> a, curvature;
};
DualPoint dual_point(const DualQp& qp, const PrimalPoint& at,
                     Parabola parabola = Parabola::tangent);

/// Newton's direction at a point; its f follows from its coefficients.
class Directions {
 public:
  /// `precision` of the products with K.
  Directions(const DualQp& qp, std::size_t bytes, std::size_t dense, Precision precision,
             const Threads& threads);

  /// The point of coefficients that are those of `a`: beta = s a.
  PrimalPoint from(std::span<const double> a, std::vector<double> lambda) const;
  PrimalPoint newton(const DualQp& qp, const PrimalPoint& at, const DualPoint& dual) const;
  /// |f|^2 as a product of two of them.
  double product(const PrimalPoint& x, const PrimalPoint& y) const;

 private:
  PrimalPoint nowhere(std::size_t coefficients, std::size_t rows) const;
  PrimalPoint in_columns(const DualQp& qp, const PrimalPoint& at, const DualPoint& dual) const;
  PrimalPoint in_points(const DualQp& qp, const PrimalPoint& at, const DualPoint& dual) const;
  void fill(PrimalPoint& point) const;

  std::shared_ptr<const Quadratic> K_;
  std::shared_ptr<const LowRank> Z_;  // null: no few columns
  std::vector<Index> row_;
  std::vector<double> sign_;
  std::size_t bytes_, dense_;
  Precision precision_;
  const Threads& threads_;
};

}  // namespace maxmargin
