#include "maxmargin/solver/primal_dual/orthogonal_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace maxmargin {
namespace {

// A row whose part orthogonal to the others is at most this share of it depends on them.
constexpr double dependent = 1e-13;
// Its d is consistent with theirs if it differs by at most this share of the terms.
constexpr double same_sum = 1e-9;

double product(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t v = 0; v < x.size(); ++v) sum += x[v] * y[v];
  return sum;
}

}  // namespace

OrthogonalRows::OrthogonalRows(const DualQp& qp) {
  problem_.K = qp.K;
  problem_.row = qp.row;
  problem_.block = qp.block;
  const double root_n = std::sqrt(static_cast<double>(qp.size()));
  for (std::size_t r = 0; r < qp.A.size(); ++r) {
    std::vector<double> rest = qp.A[r], share(qp.A.size(), 0.0);
    double target = qp.d[r], terms = std::abs(target);
    const double whole = std::sqrt(product(rest, rest));
    // Gram-Schmidt, twice: the second time takes what rounding left in the first.
    for (int round = 0; round < 2; ++round)
      for (std::size_t j = 0; j < source_.size(); ++j) {
        const std::vector<double>& other = problem_.A[j];
        const double part = product(rest, other) / (root_n * root_n);
        for (std::size_t v = 0; v < rest.size(); ++v) rest[v] -= part * other[v];
        target -= part * problem_.d[j];
        terms += std::abs(part * problem_.d[j]);
        share[j] += part;
      }
    const double size = std::sqrt(product(rest, rest));
    if (size > dependent * whole) {
      // Entries of mean square 1.
      for (double& entry : rest) entry *= root_n / size;
      share[source_.size()] = size / root_n;
      source_.push_back(r);
      problem_.A.push_back(std::move(rest));
      problem_.d.push_back(target * root_n / size);
    } else {
      contradictory_ |= std::abs(target) > same_sum * terms;
    }
    L_.push_back(std::move(share));
  }
}

std::vector<double> OrthogonalRows::residual(std::span<const double> of_new_rows) const {
  std::vector<double> result(L_.size(), 0.0);
  for (std::size_t r = 0; r < L_.size(); ++r)
    for (std::size_t j = 0; j < source_.size(); ++j) result[r] += L_[r][j] * of_new_rows[j];
  return result;
}

std::vector<double> OrthogonalRows::multipliers(std::vector<double> of_new_rows) const {
  std::vector<double> result(L_.size(), 0.0);
  for (std::size_t j = source_.size(); j-- > 0;) {
    const std::vector<double>& row = L_[source_[j]];
    const double value = of_new_rows[j] / row[j];
    result[source_[j]] = value;
    for (std::size_t i = 0; i < j; ++i) of_new_rows[i] -= row[i] * value;
  }
  return result;
}

std::vector<double> OrthogonalRows::new_multipliers(std::span<const double> of_old_rows) const {
  std::vector<double> result(source_.size(), 0.0);
  for (std::size_t r = 0; r < L_.size(); ++r)
    for (std::size_t j = 0; j < source_.size(); ++j) result[j] += L_[r][j] * of_old_rows[r];
  return result;
}

double OrthogonalRows::largest_growth() const {
  double largest = 0;
  for (const std::vector<double>& shares : L_) {
    double sum = 0;
    for (const double share : shares) sum += std::abs(share);
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace maxmargin
