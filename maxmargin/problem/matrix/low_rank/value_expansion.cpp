#include "maxmargin/problem/matrix/low_rank/value_expansion.hpp"

#include <numeric>

#include "maxmargin/linalg/symmetric.hpp"

namespace maxmargin {
namespace {

/// K(rows, all points), row by row.
std::vector<double> rows_of(const Quadratic& K, std::span<const Index> which,
                            const Threads& threads) {
  std::vector<double> rows(which.size() * K.size());
  threads.split(which.size(), 1, [&](std::size_t begin, std::size_t end) {
    K.exact_block(which.subspan(begin, end - begin), 0, K.size(), &rows[begin * K.size()],
                  K.size());
  });
  return rows;
}

double dot(const double* x, const double* y, std::size_t size) {
  return std::inner_product(x, x + size, y, 0.0);
}

}  // namespace

ValueExpansion expand_values(const Quadratic& K, std::span<const Index> basis,
                             std::span<const Index> points, const Threads& threads) {
  const std::size_t m = K.size(), n = basis.size();
  const std::vector<double> columns = rows_of(K, basis, threads);
  const std::vector<double> wanted = rows_of(K, points, threads);
  std::vector<double> gram(n * n);
  threads.split(n, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        gram[i * n + j] = dot(&columns[i * m], &columns[j * m], m);
  });
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) gram[i * n + j] = gram[j * n + i];
  ValueExpansion result;
  result.coefficients.resize(points.size() * n);
  result.residual.resize(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::span<double> c(&result.coefficients[k * n], n);
    for (std::size_t j = 0; j < n; ++j) c[j] = dot(&columns[j * m], &wanted[k * m], m);
    solve_small(gram, c);
    std::vector<double> rest(&wanted[k * m], &wanted[k * m] + m);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < m; ++l) rest[l] -= c[j] * columns[j * m + l];
    result.residual[k] = dot(rest.data(), rest.data(), m);
  }
  return result;
}

}  // namespace maxmargin
