#pragma once

#include <algorithm>
#include <cmath>

#include "maxmargin/problem/solution.hpp"
#include "tests/dense_quadratic.hpp"

namespace maxmargin {

/// The largest violation of the optimality conditions and bounds, by a double loop over K.
inline double kkt_violation(const DualQp& qp, const Solution& solution) {
  const auto& K = dynamic_cast<const DenseQuadratic&>(*qp.K);
  double worst = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    double slope = block.slope(solution.a[v]);
    for (std::size_t w = 0; w < qp.size(); ++w)
      slope += block.sign * qp.block[w].sign * K.at(qp.row[v], qp.row[w]) * solution.a[w];
    for (std::size_t r = 0; r < qp.A.size(); ++r) slope += qp.A[r][v] * solution.lambda[r];
    if (solution.a[v] < block.upper) worst = std::max(worst, -slope);
    if (solution.a[v] > block.lower) worst = std::max(worst, slope);
    worst = std::max({worst, block.lower - solution.a[v], solution.a[v] - block.upper});
  }
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    double sum = -qp.d[r];
    for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.A[r][v] * solution.a[v];
    worst = std::max(worst, std::abs(sum));
  }
  return worst;
}

}  // namespace maxmargin
