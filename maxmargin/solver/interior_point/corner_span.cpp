#include "maxmargin/solver/interior_point/corner_span.hpp"

#include <algorithm>

#include "maxmargin/linalg/blas.hpp"
#include "maxmargin/linalg/serial_blas.hpp"

namespace maxmargin {
namespace {

// Eigenvalues below this share of the largest are rounding.
constexpr double rounding = 1e-12;

double product(const double* x, const double* y, std::size_t count) {
  double sum = 0;
  for (std::size_t j = 0; j < count; ++j) sum += x[j] * y[j];
  return sum;
}

}  // namespace

CornerSpan::CornerSpan(std::vector<double> matrix, std::size_t numbers) : numbers_(numbers) {
  if (numbers == 0) return;
  const SerialBlas serial;
  std::vector<double> values(numbers);
  const auto n = static_cast<int>(numbers);
  // The lower triangle by rows is the upper one by columns.
  if (syev('U', n, matrix.data(), n, values.data()) != 0) return;
  const auto first = static_cast<std::size_t>(
      std::upper_bound(values.begin(), values.end(), rounding * values.back()) - values.begin());
  if (!(values.back() > 0)) return;
  vectors_.assign(matrix.begin() + static_cast<std::ptrdiff_t>(first * numbers), matrix.end());
  values_.assign(values.begin() + static_cast<std::ptrdiff_t>(first), values.end());
}

std::vector<double> CornerSpan::fit(std::span<const double> right) const {
  std::vector<double> move(numbers_, 0.0);
  for (std::size_t e = 0; e < rank(); ++e) {
    const double* vector = vectors_.data() + e * numbers_;
    const double length = product(vector, right.data(), numbers_) / values_[e];
    for (std::size_t j = 0; j < numbers_; ++j) move[j] += length * vector[j];
  }
  return move;
}

std::vector<double> CornerSpan::unseen(std::span<const double> x) const {
  std::vector<double> rest(x.begin(), x.end());
  for (std::size_t e = 0; e < rank(); ++e) {
    const double* vector = vectors_.data() + e * numbers_;
    const double length = product(vector, rest.data(), numbers_);
    for (std::size_t j = 0; j < numbers_; ++j) rest[j] -= length * vector[j];
  }
  return rest;
}

void CornerSpan::complete(std::vector<double>& matrix) const {
  double largest = 0;
  for (std::size_t j = 0; j < numbers_; ++j) largest = std::max(largest, matrix[j * numbers_ + j]);
  if (!(largest > 0)) largest = 1;
  for (std::size_t j = 0; j < numbers_; ++j) matrix[j * numbers_ + j] += largest;
  if (rank() == 0) return;
  const SerialBlas serial;
  const auto n = static_cast<int>(numbers_);
  blas().cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, n, static_cast<int>(rank()), -largest,
                     vectors_.data(), n, 1, matrix.data(), n);
}

}  // namespace maxmargin
