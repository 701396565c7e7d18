#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "maxmargin/problem/dual_qp.hpp"

// The optimum of small problems by a dense interior point method, written for nothing but
// this: every system is solved by plain elimination.
namespace maxmargin::reference {

template <class Real>
using MatrixOf = std::vector<std::vector<Real>>;

template <class Real>
std::vector<Real> eliminate(MatrixOf<Real> M, std::vector<Real> r) {
  const std::size_t n = r.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i)
      if (std::abs(M[i][k]) > std::abs(M[pivot][k])) pivot = i;
    std::swap(M[k], M[pivot]);
    std::swap(r[k], r[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Real factor = M[i][k] / M[k][k];
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

template <class Real>
struct OptimumOf {
  std::vector<Real> a, lambda;
  Real dual;  ///< -(1/2 a'Qa + p'a)
};
using Optimum = OptimumOf<double>;

/// `small`: the gap at which it ends.
template <class Real = double>
OptimumOf<Real> dense_optimum(const DualQp& qp, Real small = 1e-13) {
  using Matrix = MatrixOf<Real>;
  const std::size_t n = qp.size(), k = qp.A.size();
  const Threads one(1);
  std::vector<double> unit(qp.K->size(), 0.0), column(qp.K->size());
  Matrix K, Q(n, std::vector<Real>(n));
  for (std::size_t i = 0; i < unit.size(); ++i) {
    unit[i] = 1;
    qp.K->multiply(unit, column, Precision::exact, one);
    K.emplace_back(column.begin(), column.end());
    unit[i] = 0;
  }
  for (std::size_t v = 0; v < n; ++v)
    for (std::size_t w = 0; w < n; ++w)
      Q[v][w] = qp.block[v].sign * qp.block[w].sign * K[qp.row[v]][qp.row[w]] +
                (v == w ? qp.block[v].curvature : 0);

  OptimumOf<Real> o{std::vector<Real>(n), std::vector<Real>(k, Real(0)), 0};
  std::vector<Real> z(n, Real(0)), w(n, Real(0));
  for (std::size_t v = 0; v < n; ++v) {
    const Block& b = qp.block[v];
    const bool low = std::isfinite(b.lower), high = std::isfinite(b.upper);
    o.a[v] = low && high ? (b.lower + b.upper) / 2 : low ? b.lower + 1 : high ? b.upper - 1 : 0;
    z[v] = low ? 1 : 0;
    w[v] = high ? 1 : 0;
  }
  for (int iteration = 0; iteration < 200; ++iteration) {
    Real gap = 0, count = 0, residual = 0;
    Matrix M(n + k, std::vector<Real>(n + k, Real(0)));
    std::vector<Real> r(n + k);
    std::vector<Real> slope(n);
    for (std::size_t v = 0; v < n; ++v) {
      const Block& b = qp.block[v];
      slope[v] = b.linear - z[v] + w[v];
      for (std::size_t j = 0; j < n; ++j) slope[v] += Q[v][j] * o.a[j];
      for (std::size_t e = 0; e < k; ++e) slope[v] += qp.A[e][v] * o.lambda[e];
      if (z[v] > 0) gap += z[v] * (o.a[v] - b.lower), ++count;
      if (w[v] > 0) gap += w[v] * (b.upper - o.a[v]), ++count;
      residual = std::max(residual, std::abs(slope[v]));
    }
    const Real centre = count > 0 ? gap / 10 / count : 0;
    for (std::size_t v = 0; v < n; ++v) {
      const Block& b = qp.block[v];
      M[v] = Q[v];
      M[v].resize(n + k, Real(0));
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
    if (gap < small && residual < 100 * small) break;
    const std::vector<Real> step = eliminate(std::move(M), std::move(r));
    Real length = Real(1) / 0.95;
    std::vector<Real> dz(n, Real(0)), dw(n, Real(0));
    const auto limit = [&](Real value, Real change) {
      if (change < 0) length = std::min(length, -value / change);
    };
    for (std::size_t v = 0; v < n; ++v) {
      const Real below = o.a[v] - qp.block[v].lower, above = qp.block[v].upper - o.a[v];
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
