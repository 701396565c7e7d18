#include "maxmargin/linalg/small.hpp"

#include <cmath>
#include <utility>

namespace maxmargin {
namespace {

double product(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace

void SmallMatrix::add_outer(std::span<const double> x, double weight) {
  for (std::size_t i = 0; i < size_; ++i) {
    const double scaled = weight * x[i];
    for (std::size_t j = 0; j <= i; ++j) values_[i * size_ + j] += scaled * x[j];
  }
}

std::vector<double> solve_cholesky(SmallMatrix M, std::vector<double> r, double least) {
  const std::size_t n = M.size();
  std::vector<bool> determined(n, true);
  for (std::size_t i = 0; i < n; ++i) {
    const double entry = M(i, i);
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = M(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= M(i, k) * M(j, k);
      if (j < i) {
        M(i, j) = determined[j] ? sum / M(j, j) : 0;
      } else {
        determined[i] = sum > least * entry && sum > 0;
        M(i, i) = determined[i] ? std::sqrt(sum) : 1;
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) r[i] -= M(i, k) * r[k];
    r[i] = determined[i] ? r[i] / M(i, i) : 0;
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) r[i] -= M(k, i) * r[k];
    r[i] = determined[i] ? r[i] / M(i, i) : 0;
  }
  return r;
}

Orthonormal orthonormal(const std::vector<std::vector<double>>& columns, double tolerance) {
  Orthonormal result;
  auto& directions = result.directions;
  auto& recipe = result.recipe;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::vector<double> rest = columns[c];
    std::vector<double> weight(c, 0.0);
    const double length = std::sqrt(product(rest, rest));
    // Each column twice: once is not enough where it nearly vanishes.
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t k = 0; k < c; ++k) {
        const double along = product(directions[k], rest);
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= along * directions[k][i];
        for (std::size_t j = 0; j <= k; ++j) weight[j] += along * recipe[k][j];
      }
    const double left = std::sqrt(product(rest, rest));
    if (left <= tolerance * length) {
      result.dependence = {c, std::move(weight)};
      return result;
    }
    for (double& value : rest) value /= left;
    for (double& value : weight) value /= -left;
    weight.push_back(1 / left);
    directions.push_back(std::move(rest));
    recipe.push_back(std::move(weight));
  }
  return result;
}

}  // namespace maxmargin
