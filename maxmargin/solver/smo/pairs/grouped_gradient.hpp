#pragma once

#include <cstddef>

#include "maxmargin/base/aligned.hpp"
#include "maxmargin/linalg/accumulate.hpp"

namespace maxmargin {

struct GradientArrays;

/// The gradient of all points for steps of pairs along rows that are mostly zero: a step touches
/// the groups of points where its rows are not, and the highest and lowest negative gradient are
/// known by group.
class GroupedGradient {
 public:
  static constexpr std::size_t group_points = 64;
  struct End {
    double value;
    std::size_t point;
  };
  /// The point that promises the largest decrease with another one, and (difference of gradient)^2
  /// / curvature of that pair; 0 where none promises any.
  struct Partner {
    double gain;
    std::size_t point;
  };

  explicit GroupedGradient(std::size_t points);

  /// A point's negative gradient is minus its f. Its variables add something of their own: the one
  /// that wants most to grow and the one that wants most to fall; infinite where there is none.
  /// `diagonal` is its kernel value and the falling variable's curvature. Known after measure()
  /// only.
  void set_negative_gradient(std::size_t point, double negative_gradient) {
    negative_gradient_[point] = negative_gradient;
  }
  void set_variables(std::size_t point, double growth, double fall, double diagonal);
  void measure(std::size_t point);
  void measure_all();

  double negative_gradient(std::size_t point) const { return negative_gradient_[point]; }
  double up(std::size_t point) const { return negative_gradient_[point] + growth_[point]; }
  double down(std::size_t point) const { return negative_gradient_[point] + fall_[point]; }

  /// The highest negative gradient of a variable that can grow, the lowest of one that can fall;
  /// the first point of equals.
  End highest() const;
  End lowest() const;

  /// The best partner that falls while a point rises from `negative_gradient`, among those where
  /// its row is not zero.
  Partner best_partner(const BlockRow& row, double negative_gradient, double diagonal) const;

  /// negative gradient -= step * row.
  void move(const BlockRow& row, double step);

 private:
  GradientArrays arrays();

  AlignedVector<double> negative_gradient_, growth_, fall_;
  AlignedVector<float> low_, diagonal_;     ///< down() and the diagonal, for best_partner()
  AlignedVector<double> highest_, lowest_;  ///< of each group
};

}  // namespace maxmargin
