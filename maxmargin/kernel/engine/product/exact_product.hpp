#pragma once

#include <span>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// Sums for several vectors at once: y[k * stride + c] += sum over r of coefficients[r * count + k]
/// times the value at row r and column c.
struct SeveralSums {
  std::span<const double> coefficients;
  std::size_t count;
  double* y;
  std::size_t stride;
};

/// Kernel values in double throughout, from sums of products where these are good enough, and
/// otherwise from differences, which never cancel.
class ExactValues {
 public:
  /// For these columns, and rows from among them.
  ExactValues(const Form& form, const Rows& columns);

  /// The proved error of a value, see error_bound.hpp.
  double error() const { return error_; }

  /// out[r * stride + c] = K(left row which[r], column begin + c) for c < count.
  void block(const Rows& left, std::span<const Index> which, const Rows& columns, std::size_t begin,
             std::size_t count, double* out, std::size_t stride) const;

  /// y[c] += sum over r of coefficients[r] * K(left row which[r], column begin + c) for c < count,
  /// in the order of the rows.
  void add_product(const Rows& left, std::span<const Index> which,
                   std::span<const double> coefficients, const Rows& columns, std::size_t begin,
                   std::size_t count, double* y) const;
  /// The same for several vectors, each value computed once.
  void add_products(const Rows& left, std::span<const Index> which, const Rows& columns,
                    std::size_t begin, std::size_t count, const SeveralSums& sums) const;

 private:
  Form form_;
  bool by_differences_ = false;
  double error_ = 0;
};

}  // namespace maxmargin
