#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

// The optimum of small problems by a dense interior point method in double, written for nothing but
// this: every system is solved by plain elimination.
namespace maxmargin::reference {

using Matrix = std::vector<std::vector<double>>;

inline std::vector<double> eliminate(Matrix M, std::vector<double> r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
    std::swap(M[k], M[pivot]);
    std::swap(r[k], r[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j < n; ++j) M[i][j] -= factor * M[k][j];
      r[i] -= factor * r[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) r[k] -= M[k][j] * r[j];
    r[k] /= M[k][k];
  }
  return r;
}

struct Optimum {
  std::vector<double> a, lambda;
  double dual;  ///< -(1/2 a'Qa + p'a)
};

inline Optimum dense_optimum(const DualQp& qp) {
  const std::size_t n = qp.size(), k = qp.A.size();
  const Threads one(1);
  std::vector<double> unit(qp.K->size(), 0.0), column(qp.K->size());
  Matrix K, Q(n, std::vector<double>(n));
  for (std::size_t i = 0; i < unit.size(); ++i) {
    unit[i] = 1;
    qp.K->multiply(unit, column, Precision::exact, one);
    K.push_back(column);
    unit[i] = 0;
  }
  for (std::size_t v = 0; v < n; ++v)
    for (std::size_t w = 0; w < n; ++w)
      Q[v][w] = qp.block[v].sign * qp.block[w].sign * K[qp.row[v]][qp.row[w]] +
                (v == w ? qp.block[v].curvature : 0);

  Optimum o{std::vector<double>(n), std::vector<double>(k, 0.0), 0};
  std::vector<double> z(n, 0.0), w(n, 0.0);
  for (std::size_t v = 0; v < n; ++v) {
    const Block& b = qp.block[v];
    const bool low = std::isfinite(b.lower), high = std::isfinite(b.upper);
    o.a[v] = low && high ? (b.lower + b.upper) / 2 : low ? b.lower + 1 : high ? b.upper - 1 : 0;
    z[v] = low ? 1 : 0;
    w[v] = high ? 1 : 0;
  }
  for (int iteration = 0; iteration < 200; ++iteration) {
    double gap = 0, count = 0, residual = 0;
    Matrix M(n + k, std::vector<double>(n + k, 0.0));
    std::vector<double> r(n + k);
    std::vector<double> slope(n);
    for (std::size_t v = 0; v < n; ++v) {
      const Block& b = qp.block[v];
      slope[v] = b.linear - z[v] + w[v];
      for (std::size_t j = 0; j < n; ++j) slope[v] += Q[v][j] * o.a[j];
      for (std::size_t e = 0; e < k; ++e) slope[v] += qp.A[e][v] * o.lambda[e];
      if (z[v] > 0) gap += z[v] * (o.a[v] - b.lower), ++count;
      if (w[v] > 0) gap += w[v] * (b.upper - o.a[v]), ++count;
      residual = std::max(residual, std::abs(slope[v]));
    }
    const double centre = count > 0 ? 0.1 * gap / count : 0;
    for (std::size_t v = 0; v < n; ++v) {
      const Block& b = qp.block[v];
      M[v] = Q[v];
      M[v].resize(n + k, 0.0);
      r[v] = -slope[v];
      if (z[v] > 0) {
        M[v][v] += z[v] / (o.a[v] - b.lower);
        r[v] += centre / (o.a[v] - b.lower) - z[v];
      }
      if (w[v] > 0) {
        M[v][v] += w[v] / (b.upper - o.a[v]);
        r[v] -= centre / (b.upper - o.a[v]) - w[v];
      }
    }
    for (std::size_t e = 0; e < k; ++e) {
      r[n + e] = qp.d[e];
      for (std::size_t v = 0; v < n; ++v) {
        r[n + e] -= qp.A[e][v] * o.a[v];
        M[v][n + e] = M[n + e][v] = qp.A[e][v];
      }
      residual = std::max(residual, std::abs(r[n + e]));
    }
    if (gap < 1e-13 && residual < 1e-11) break;
    const std::vector<double> step = eliminate(std::move(M), std::move(r));
    double length = 1 / 0.95;
    std::vector<double> dz(n, 0.0), dw(n, 0.0);
    const auto limit = [&](double value, double change) {
      if (change < 0) length = std::min(length, -value / change);
    };
    for (std::size_t v = 0; v < n; ++v) {
      const double below = o.a[v] - qp.block[v].lower, above = qp.block[v].upper - o.a[v];
      if (z[v] > 0) {
        dz[v] = (centre - z[v] * step[v]) / below - z[v];
        limit(below, step[v]);
        limit(z[v], dz[v]);
      }
      if (w[v] > 0) {
        dw[v] = (centre + w[v] * step[v]) / above - w[v];
        limit(above, -step[v]);
        limit(w[v], dw[v]);
      }
    }
    length *= 0.95;
    for (std::size_t v = 0; v < n; ++v) {
      o.a[v] += length * step[v];
      z[v] += length * dz[v];
      w[v] += length * dw[v];
    }
    for (std::size_t e = 0; e < k; ++e) o.lambda[e] += length * step[n + e];
  }
  for (std::size_t v = 0; v < n; ++v) {
    o.dual -= qp.block[v].linear * o.a[v];
    for (std::size_t j = 0; j < n; ++j) o.dual -= o.a[v] * Q[v][j] * o.a[j] / 2;
  }
  return o;
}

}  // namespace maxmargin::reference
