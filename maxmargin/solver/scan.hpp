#pragma once

#include <cstddef>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin {

/// The variables of a problem as arrays, for the loops over all of them.
struct VariableArrays {
  const double* f;
  const Index* point;
  const double *linear, *curvature, *beta, *lower, *upper;
};

/// growing[v] = -(f + linear + curvature beta) where beta can grow, else minus infinity; falling[v]
/// the same where it can fall, else plus infinity; for begin <= v < end.
void scan_gradient(const VariableArrays& variables, std::size_t begin, std::size_t end,
                   double* growing, double* falling);

double largest(const double* x, std::size_t count);
double smallest(const double* x, std::size_t count);

/// Appends begin + i for all i < count with x[begin + i] >= bound (<= bound).
void find_at_least(const double* x, std::size_t begin, std::size_t count, double bound,
                   std::vector<Index>& found);
void find_at_most(const double* x, std::size_t begin, std::size_t count, double bound,
                  std::vector<Index>& found);

}  // namespace maxmargin
