#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "maxmargin/data/rows.hpp"
#include "maxmargin/kernel/form.hpp"

namespace maxmargin {

/// How the sums of a pairing are built from the non-zeros of one side (see tiles.hpp), and what is
/// done to the values before: Hellinger's distance is Euclid's between square roots, and Euclid's
/// distance is made of dot products and norms.
struct Summation {
  Pairing pairing;
  bool roots;     ///< values enter as their square roots
  double factor;  ///< of the sum: -2 for Euclid's distance, else 1

  explicit Summation(Pairing stated)
      : pairing(stated == Pairing::hellinger ? Pairing::squared_euclidean : stated),
        roots(stated == Pairing::hellinger),
        factor(pairing == Pairing::squared_euclidean ? -2 : 1) {}

  double value(double raw) const { return roots ? std::sqrt(raw) : raw; }

  /// t(z, 0): what a feature adds that only one side has.
  double alone(double value) const {
    switch (pairing) {
      case Pairing::dot:
        return 0;
      case Pairing::manhattan:
        return std::abs(value);
      case Pairing::chi_squared:
        return value;
      default:
        return value * value;
    }
  }
  bool is_euclidean() const { return pairing == Pairing::squared_euclidean; }
  bool is_product() const { return pairing == Pairing::dot || is_euclidean(); }
};

/// The origin of distances in double, where all values are stored: the first column, so that rows
/// far from zero lose no digits by cancellation.
class Origin {
 public:
  Origin(const Summation& summation, const Rows& left, const Rows& columns) {
    const auto is_full = [&](const Rows& rows) {
      return rows.columns == columns.columns && rows.stored() == rows.count * rows.columns;
    };
    if (!summation.is_euclidean() || columns.count == 0 || !is_full(left) || !is_full(columns))
      return;
    columns.for_each(0, [&](Index, double raw) { at_.push_back(summation.value(raw)); });
  }
  bool is_zero() const { return at_.empty(); }
  double relative(Index feature, double value) const {
    return at_.empty() ? value : value - at_[feature];
  }

 private:
  std::vector<double> at_;
};

/// The largest values over a set of rows that decide which number type is exact enough.
struct Extent {
  double norm = 0;      ///< largest sum of squares of a row
  double alone = 0;     ///< largest sum of alone() of a row, where sums are not of products
  double smallest = 0;  ///< smallest |value| that is not zero
  double largest = 0;   ///< largest |value|
  std::uint64_t nonzeros = 0;
  std::size_t longest = 0;  ///< most non-zeros of a row
  bool negative = false;    ///< some value is
};
Extent extent_of(const Summation& summation, const Rows& rows, const Threads& threads);

/// A unit such that every value is a whole number (at most Unit::most) of units, give or take
/// `slack`, or 0 if there is none among the likely ones: 1, 1/255, the smallest value.
double common_unit(const Summation& summation, const Rows& rows, const Extent& extent, double slack,
                   const Threads& threads);

/// How far a row may be from whole numbers of a unit, as a vector: the largest of all rows.
double unit_deviation(const Summation& summation, const Rows& rows, double unit,
                      const Threads& threads);

/// Rows that one task looks through.
inline constexpr std::size_t rows_a_look = 512;

/// A unit of which values are whole multiples, up to `slack`.
struct Unit {
  static constexpr double most = 32767;
  // Values such as k/255 may have been rounded to float, or to the digits of a text.
  static constexpr double relative_slack = 1.2e-7;

  double size, slack, inverse;

  Unit(double unit, double deviation) : size(unit), slack(deviation), inverse(1 / unit) {}

  /// value / size as a whole number; false if it is none.
  bool divides(double value, double& units) const {
    units = std::nearbyint(value * inverse);
    const double allowed = std::max(slack, relative_slack * std::abs(value));
    const bool fits = std::abs(units) <= most, whole = std::abs(value - units * size) <= allowed;
    return fits && whole;
  }
};

}  // namespace maxmargin
