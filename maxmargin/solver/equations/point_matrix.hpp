#pragma once

#include <memory>
#include <span>
#include <vector>

#include "maxmargin/linalg/symmetric.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// K as the interior point method needs it: products, and solutions of (K_PP + diag(shift)) X = B
/// over a subset P of the points.
class PointMatrix {
 public:
  virtual ~PointMatrix() = default;

  virtual std::size_t size() const = 0;

  /// y = K x over all points.
  virtual void multiply(std::span<const double> x, std::span<double> y) const = 0;

  /// Prepares solve() for these points and shifts, all of them positive.
  virtual Factor::Outcome factor(std::span<const Index> points, std::span<const double> shift,
                                 const GoOn& go_on) = 0;

  /// In place, for `count` right-hand sides one after another.
  virtual void solve(double* b, std::size_t count) const = 0;
};

/// All of K in memory, in double: two triangles, one for K and one for the factor. Empty when go_on
/// said no before it was complete. `threads` must outlive it.
std::unique_ptr<PointMatrix> make_dense_points(const Quadratic& K, const Threads& threads,
                                               const GoOn& go_on);
std::size_t dense_points_bytes(std::size_t points);

/// K = Z Z' by the formula of Sherman, Morrison and Woodbury: m n^2 operations an iteration.
std::unique_ptr<PointMatrix> make_low_rank_points(std::shared_ptr<const LowRank> Z,
                                                  const Threads& threads);
std::size_t low_rank_points_bytes(std::size_t points, std::size_t rank);

}  // namespace maxmargin
