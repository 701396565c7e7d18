#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

namespace maxmargin {

/// The numbers of a DualQp's variables, each kind side by side: what a pass over all of them reads.
struct VariableColumns {
  explicit VariableColumns(const DualQp& qp);

  std::span<const Index> row;
  std::span<const std::vector<double>> A;
  std::vector<double> sign, linear, lower, upper;
  std::vector<double> curvature;  ///< empty where there is none
};

/// Where the variables are: f = K beta at the points, and a price of each row.
struct VariablePoint {
  std::span<const double> a, f, price;
};

/// For the variables in [begin, end): slope = s f + p + c a + A'price, and violation, the slope's
/// size where the variable can go downhill, otherwise 0. Returns the largest violation.
double find_violations(const VariableColumns& variables, const VariablePoint& point,
                       std::size_t begin, std::size_t end, double* slope, double* violation);

}  // namespace maxmargin
