#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/base/threads.hpp"
#include "maxmargin/solver/equations/bounded_point.hpp"

namespace maxmargin {

/// The variables x of  min 1/2 x'(M + D)x + p'x  that lie between their bounds, the others being
/// held, and what Newton steps among them have in common (an active set method): the matrix of
/// those that still move, how far a direction leads, the move, and that what has reached a bound
/// stays there. Which rows tie them, and so which direction, is the caller's.
///
/// Those that still move are numbered anew: k < size(), at position(k) in the list of all.
class FreeVariables {
 public:
  struct List : BoundedPoint {
    std::vector<double> descent;    ///< minus the derivative of the objective
    std::vector<double> curvature;  ///< D
    std::vector<float> M;           ///< row by row

    void reserve(std::size_t count);
  };
  FreeVariables(List list, const Threads& threads);

  std::size_t size() const { return moving_.size(); }
  std::size_t position(std::size_t k) const { return moving_[k]; }
  double x(std::size_t k) const { return list_.x[moving_[k]]; }
  double lower(std::size_t k) const { return list_.lower[moving_[k]]; }
  double upper(std::size_t k) const { return list_.upper[moving_[k]]; }
  double descent(std::size_t k) const { return list_.descent[moving_[k]]; }
  /// All of them, where they are now.
  const List& all() const { return list_; }

  /// Of M's diagonal; 0 where none is positive.
  double largest() const;
  /// The lower triangle of M + D + ridge 1 goes to row(0), row(1), ...
  template <class Row>
  void put_matrix(double ridge, const Row& row) const {
    threads_.split(size(), rows_per_task, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double* const to = row(i);
        for (std::size_t j = 0; j <= i; ++j) to[j] = M(moving_[i], moving_[j]);
        to[i] += list_.curvature[moving_[i]] + ridge;
      }
    });
  }
  /// d'(M + D)d
  double bend(std::span<const double> direction) const;

  /// How much of a direction the bounds allow, at most `length`; those `held` are not asked.
  double reach(std::span<const double> direction, double length,
               const std::vector<bool>& held = {}) const;
  /// Goes so far. `beside`: of each row that belongs to the objective, what it adds to
  /// (M + D) direction at every variable of the list.
  void move(std::span<const double> direction, double length,
            std::span<const std::vector<double>> beside = {});
  void put(std::size_t k, double value) { list_.x[moving_[k]] = value; }
  /// Variables at a bound, up to rounding, move no longer.
  void fix_at_bounds();

 private:
  static constexpr std::size_t rows_per_task = 64;
  double M(std::size_t i, std::size_t j) const {
    return static_cast<double>(list_.M[i * list_.size() + j]);
  }

  List list_;
  const Threads& threads_;
  std::vector<std::size_t> moving_;
};

}  // namespace maxmargin
