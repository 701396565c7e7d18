#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "maxmargin/solver/equations/bounded_point.hpp"

namespace maxmargin {

/// Variables between bounds in groups whose sums stay, as the classes of an example and the planes
/// of one do: those that lie between their bounds, and what Newton steps among them have in common
/// (the reduced gradient method, Wolfe 1963). In each group the one with most room is basic: it
/// takes what the others lose, which leaves equations in the others. How these are solved, and what
/// becomes of the gradient, is the caller's.
///
/// Variable m of group w stands at w * members + m. The matrix of the objective between it and n of
/// v is K(w, v) E(m, n).
class FreeInGroups {
 public:
  /// The sums are those of so many consecutive variables.
  FreeInGroups(BoundedPoint start, std::size_t members);

  /// Equations that are left.
  std::size_t size() const { return free_.size(); }
  const BoundedPoint& point() const { return point_; }

  /// The lower triangle of their matrix goes to row(0), row(1), ...; `K(w)` is a row of K.
  template <class Groups, class Members, class Row>
  void put_matrix(const Groups& K, const Members& E, const Row& row) const {
    for (std::size_t r = 0; r < size(); ++r) {
      const auto& [w, m, basic] = free_[r];
      const auto* const values = K(w);
      double* const to = row(r);
      for (std::size_t c = 0; c <= r; ++c) {
        const auto& [v, n, other] = free_[c];
        const auto between = E(m, n) - E(m, other) - E(basic, n) + E(basic, other);
        to[c] = between * static_cast<double>(values[v]);
      }
    }
  }
  /// Their right sides: descent(w, m) is minus the derivative of the objective.
  template <class Descent>
  std::vector<double> right_sides(const Descent& descent) const {
    std::vector<double> sides;
    for (const auto& [w, m, basic] : free_) sides.push_back(descent(w, m) - descent(w, basic));
    return sides;
  }
  /// What a solution changes each variable by.
  std::vector<double> direction(std::span<const double> solution) const;

  /// How much of a direction the bounds allow, at most all of it.
  double reach(std::span<const double> direction) const;
  /// What comes to its bound stands there, in spite of rounding.
  void move(std::span<const double> direction, double length);
  /// What comes to a bound within so much of the direction moves no longer.
  void hold(std::span<const double> direction, double length);

 private:
  struct Free {
    std::size_t group, member, basic;
  };
  std::size_t at(std::size_t group, std::size_t member) const { return group * members_ + member; }

  BoundedPoint point_;
  std::size_t members_;
  std::vector<Free> free_;
};

}  // namespace maxmargin
