#pragma once

#include <cfloat>
#include <cmath>
#include <limits>

namespace maxmargin {

/// The arithmetic of the judge: long double, whose rounding is known.
using Extended = long double;
static_assert(LDBL_MANT_DIG >= 64, "verify needs a long double that is wider than double");
/// The largest relative error of one operation.
inline constexpr Extended extended_rounding = LDBL_EPSILON / 2;
inline constexpr Extended double_rounding = DBL_EPSILON / 2;
inline constexpr Extended extended_infinity = std::numeric_limits<Extended>::infinity();

/// A real number that lies within `radius` of `middle`. Every operation returns an enclosure of
/// what it would be for the real numbers, its own rounding included.
struct Enclosed {
  Extended middle = 0, radius = 0;

  Enclosed() = default;
  Enclosed(Extended exact) : middle(exact) {}  // NOLINT: a number is an enclosure of itself
  Enclosed(Extended at, Extended around) : middle(at), radius(around) {}

  Extended low() const { return radius == 0 ? middle : middle - reach(); }
  Extended high() const { return radius == 0 ? middle : middle + reach(); }
  /// The largest |number| in it.
  Extended size() const { return std::abs(middle) + radius; }

  Enclosed operator-() const { return {-middle, radius}; }
  friend Enclosed operator+(const Enclosed& x, const Enclosed& y) {
    return rounded(x.middle + y.middle, x.radius + y.radius);
  }
  friend Enclosed operator-(const Enclosed& x, const Enclosed& y) { return x + -y; }
  friend Enclosed operator*(const Enclosed& x, const Enclosed& y) {
    return rounded(x.middle * y.middle, std::abs(x.middle) * y.radius +
                                            std::abs(y.middle) * x.radius + x.radius * y.radius);
  }
  Enclosed& operator+=(const Enclosed& other) { return *this = *this + other; }
  Enclosed& operator-=(const Enclosed& other) { return *this = *this - other; }

 private:
  Extended reach() const { return radius + 2 * extended_rounding * (std::abs(middle) + radius); }
  /// Adds the rounding of the operation that made `middle`, and of those that made the radius.
  static Enclosed rounded(Extended middle, Extended radius) {
    if (!std::isfinite(middle)) return {middle, extended_infinity};
    return {middle, (radius + extended_rounding * std::abs(middle)) * (1 + 16 * extended_rounding) +
                        LDBL_MIN};
  }
};

/// The nearest doubles that are no larger and no smaller.
inline double double_below(Extended value) {
  const auto near = static_cast<double>(value);
  return static_cast<Extended>(near) <= value
             ? near
             : std::nextafter(near, -std::numeric_limits<double>::infinity());
}
inline double double_above(Extended value) { return -double_below(-value); }

}  // namespace maxmargin
