#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/cost_model.hpp"
#include "maxmargin/problem/matrix/quadratic.hpp"

namespace maxmargin {

/// K = Z Z' with Z a tall matrix, one row of `rank` numbers for each point: the data themselves for
/// a linear kernel, or an approximation of another kernel (approximate.hpp).
class LowRank {
 public:
  LowRank(std::size_t points, std::size_t rank) : points_(points), rank_(rank), Z_(points * rank) {}

  /// From its numbers, row by row.
  LowRank(std::size_t points, std::size_t rank, Buffer<double> numbers)
      : points_(points), rank_(rank), Z_(std::move(numbers)) {}

  std::size_t points() const { return points_; }
  std::size_t rank() const { return rank_; }
  double* row(std::size_t point) { return Z_.data() + point * rank_; }
  const double* row(std::size_t point) const { return Z_.data() + point * rank_; }
  std::size_t bytes() const { return Z_.size() * sizeof(double); }

  /// w = Z'x
  std::vector<double> gather(std::span<const double> x, const Threads& threads) const;
  /// y = Z w
  void spread(std::span<const double> w, std::span<double> y, const Threads& threads) const;
  /// The lower triangle, by rows, of Z_P' diag(weight) Z_P over some of the points.
  std::vector<double> gram(std::span<const Index> which, std::span<const double> weight,
                           const Threads& threads) const;

  LowRank chosen(std::span<const Index> which) const;

 private:
  std::size_t points_, rank_;
  Buffer<double> Z_;
};

/// Z Z' as a matrix for every solver.
std::shared_ptr<const Quadratic> make_low_rank_quadratic(std::shared_ptr<const LowRank> Z,
                                                         const CostModel& costs = {});

}  // namespace maxmargin
