#pragma once

#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace maxmargin {

/// x'y, added up in the order of the entries.
inline double dot(std::span<const double> x, std::span<const double> y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// A symmetric matrix of a few rows, by rows.
class SmallMatrix {
 public:
  explicit SmallMatrix(std::size_t size) : size_(size), values_(size * size, 0.0) {}

  std::size_t size() const { return size_; }
  double& operator()(std::size_t i, std::size_t j) { return values_[i * size_ + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values_[i * size_ + j]; }

  /// this += weight x x', on and below the diagonal.
  void add_outer(std::span<const double> x, double weight);

 private:
  std::size_t size_;
  std::vector<double> values_;
};

/// Solves M z = r by Cholesky's factors of what stands on and below the diagonal of M. A pivot
/// below `least` times the entry it came from makes its unknown 0: what M does not determine stays
/// as it is.
std::vector<double> solve_cholesky(SmallMatrix M, std::vector<double> r, double least);

/// Columns made orthonormal one after the other, by Gram and Schmidt: directions[c] is the sum of
/// recipe[c][j] columns[j] over j <= c. It ends at the first column that depends on those before
/// it: one near to the sum of weight[j] column[j], by a share of `tolerance` of its length or less.
struct Dependence {
  std::size_t column;
  std::vector<double> weight;
};
struct Orthonormal {
  std::vector<std::vector<double>> directions;
  std::vector<std::vector<double>> recipe;
  std::optional<Dependence> dependence;
};
Orthonormal orthonormal(const std::vector<std::vector<double>>& columns, double tolerance);

}  // namespace maxmargin
