#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>

namespace maxmargin {

/// A convex cost c(z) of the user's own, z = y f for classes and f - y for numbers, with its
/// conjugate c*(t) = sup over z of t z - c(z) (Learning with Kernels, problem 10.9). Its functions
/// are called by several threads at once.
struct ConvexCost {
  using Function = std::function<double(double)>;
  std::string label = "own";
  Function value;            ///< c(z)
  Function slope;            ///< c'(z)
  Function conjugate;        ///< c*(t), for t between the least and the largest slope
  Function conjugate_slope;  ///< its derivative: the z where c has the slope t
  Function conjugate_bend;   ///< its second derivative
  double least_slope = -std::numeric_limits<double>::infinity();  ///< of c, at its far left
  double most_slope = std::numeric_limits<double>::infinity();    ///< at its far right

  // Found by checked().
  bool is_closed = false;  ///< c reaches its least or largest slope: c* has a slope there
  double least_bend = 0;   ///< of c*, on the grid
};

/// The cost, if its functions fit each other on a grid. Throws Error where one is missing, where c
/// is not convex, never falls or has no lower bound, and where slope, conjugate or its derivatives
/// are not those of c.
std::shared_ptr<const ConvexCost> checked(ConvexCost cost);

/// log cosh z, a smooth |z|: the cost that stands where no other was given.
std::shared_ptr<const ConvexCost> log_cosh();

}  // namespace maxmargin
