#include "maxmargin/solver/smo/first_point.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {

std::vector<double> first_point(const DualQp& qp, const RowKinds& kinds, std::vector<double> a) {
  a.resize(qp.size(), 0.0);
  for (std::size_t v = 0; v < qp.size(); ++v)
    a[v] = std::clamp(a[v], qp.block[v].lower, qp.block[v].upper);
  for (const std::size_t r : kinds.pair) {
    double rest = qp.d[r], size = std::abs(qp.d[r]);
    for (std::size_t v = 0; v < qp.size(); ++v) {
      rest -= qp.A[r][v] * a[v];
      size += std::abs(qp.A[r][v] * a[v]);
    }
    // A row that holds but for rounding is left as it is.
    if (std::abs(rest) <= equality_rounding * size) continue;
    for (std::size_t v = 0; v < qp.size() && rest != 0; ++v) {
      const double weight = qp.A[r][v];
      if (weight == 0) continue;
      const double wish = a[v] + rest / weight;
      const double moved = std::clamp(wish, qp.block[v].lower, qp.block[v].upper);
      rest = moved == wish ? 0 : rest - weight * (moved - a[v]);
      a[v] = moved;
    }
  }
  return a;
}

}  // namespace maxmargin
