#include "maxmargin/loss/convex_cost.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/text.hpp"

namespace maxmargin {
namespace {

// The grid of z: from -reach to reach in equal steps.
constexpr double reach = 8;
constexpr int steps = 256;
constexpr double width = 2 * reach / steps;
// What rounding may change in a sum, relative to its terms.
constexpr double rounding = 1e-12;
// How well conjugates and second derivatives have to fit, relative to their terms.
constexpr double fit = 1e-7, bend_fit = 1e-3;

class Check {
 public:
  explicit Check(ConvexCost& cost) : cost_(cost) {}

  void run() {
    require_functions();
    require_slopes();
    cost_.least_bend = std::numeric_limits<double>::infinity();
    for (int k = 0; k <= steps; ++k) {
      const double z = -reach + k * width;
      require_finite(z);
      require_convex(z);
    }
    for (int k = 0; k <= steps; ++k) {
      const double z = -reach + k * width;
      require_slope(z);
      require_conjugate(z);
    }
    if (!std::isfinite(cost_.least_bend)) cost_.least_bend = 0;
    for (const double end : {cost_.least_slope, cost_.most_slope})
      if (std::isfinite(end) && std::isfinite(cost_.conjugate_slope(end))) cost_.is_closed = true;
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& mend) const {
    throw Error(Fault::usage, "the cost '" + cost_.label + "' " + what, mend);
  }
  static std::string at(double z) { return " at z = " + shortest(z); }

  void require_functions() const {
    const auto need = [&](const ConvexCost::Function& function, const char* name) {
      if (!function) refuse("has no " + std::string(name), "give all five functions");
    };
    need(cost_.value, "value");
    need(cost_.slope, "slope");
    need(cost_.conjugate, "conjugate");
    need(cost_.conjugate_slope, "derivative of the conjugate");
    need(cost_.conjugate_bend, "second derivative of the conjugate");
  }

  void require_slopes() const {
    if (!(cost_.least_slope < cost_.most_slope))
      refuse("has no slopes between " + shortest(cost_.least_slope) + " and " +
                 shortest(cost_.most_slope),
             "give the limits of c'(z) far to the left and far to the right");
    if (!(cost_.least_slope < 0)) refuse("never falls", "give one that falls where f is too small");
    if (!(cost_.most_slope >= 0))
      refuse("has no lower bound", "give one whose slopes do not stay below zero");
  }

  void require_finite(double z) const {
    if (!std::isfinite(cost_.value(z)) || !std::isfinite(cost_.slope(z)))
      refuse("is not finite" + at(z), "costs and their slopes are finite numbers");
  }

  /// No value lies above the chord of its neighbours.
  void require_convex(double z) const {
    const double left = cost_.value(z - width), here = cost_.value(z),
                 right = cost_.value(z + width);
    const double size = std::abs(left) + 2 * std::abs(here) + std::abs(right);
    if (left + right - 2 * here < -rounding * size)
      refuse("is not convex" + at(z) + ": " + shortest(here) + " lies above the middle of " +
                 shortest(left) + " and " + shortest(right),
             "a machine needs a convex cost");
  }

  /// A tangent lies below the neighbours.
  void require_slope(double z) const {
    const double here = cost_.value(z), slope = cost_.slope(z);
    for (const double step : {-width, width}) {
      const double there = cost_.value(z + step);
      const double size = std::abs(there) + std::abs(here) + std::abs(step * slope);
      if (there - here - step * slope < -rounding * size)
        refuse("has not the slope " + shortest(slope) + at(z), "give the derivative of its value");
    }
    if (slope < cost_.least_slope || slope > cost_.most_slope)
      refuse("has the slope " + shortest(slope) + at(z) + ", beyond its limits",
             "give the limits of c'(z) far to the left and far to the right");
  }

  /// c(z) + c*(t) = t z where t is the slope, and at the z that c* says has that slope.
  void require_conjugate(double z) {
    const double t = cost_.slope(z);
    if (t <= cost_.least_slope || t >= cost_.most_slope) return;
    const double conjugate = cost_.conjugate(t);
    const auto meets = [&](double x) {
      const double value = cost_.value(x), product = t * x;
      return std::abs(value + conjugate - product) <=
             fit * (std::abs(value) + std::abs(conjugate) + std::abs(product) + 1e-3);
    };
    if (!meets(z))
      refuse("has not the conjugate " + shortest(conjugate) + " at the slope " + shortest(t),
             "c*(t) is the largest t z - c(z)");
    if (!meets(cost_.conjugate_slope(t)))
      refuse("has not the slope " + shortest(t) + at(cost_.conjugate_slope(t)) +
                 ", as the derivative of its conjugate says",
             "give the derivative of c*(t)");
    require_bend(t);
  }

  void require_bend(double t) {
    const double room = std::min({t - cost_.least_slope, cost_.most_slope - t, 1 + std::abs(t)});
    const double step = 1e-4 * room, bend = cost_.conjugate_bend(t);
    const double low = cost_.conjugate_slope(t - step), high = cost_.conjugate_slope(t + step);
    const double between = (high - low) / (2 * step);
    const double size =
        std::abs(bend) + std::abs(between) + 1e-9 * (std::abs(low) + std::abs(high)) / step;
    if (!(bend >= 0) || std::abs(bend - between) > bend_fit * size)
      refuse("has not the second derivative " + shortest(bend) + " of its conjugate at the slope " +
                 shortest(t),
             "give the derivative of the derivative of c*(t)");
    cost_.least_bend = std::min(cost_.least_bend, bend);
  }

  ConvexCost& cost_;
};

}  // namespace

std::shared_ptr<const ConvexCost> checked(ConvexCost cost) {
  Check(cost).run();
  return std::make_shared<const ConvexCost>(std::move(cost));
}

std::shared_ptr<const ConvexCost> log_cosh() {
  ConvexCost cost;
  cost.label = "log cosh";
  cost.value = [](double z) {
    return std::abs(z) + std::log1p(std::exp(-2 * std::abs(z))) - std::log(2.0);
  };
  cost.slope = [](double z) { return std::tanh(z); };
  cost.conjugate = [](double t) {
    const auto part = [](double x) { return x > -1 ? (1 + x) * std::log1p(x) / 2 : 0.0; };
    return part(t) + part(-t);
  };
  cost.conjugate_slope = [](double t) { return std::atanh(t); };
  cost.conjugate_bend = [](double t) { return 1 / ((1 - t) * (1 + t)); };
  cost.least_slope = -1;
  cost.most_slope = 1;
  return checked(std::move(cost));
}

}  // namespace maxmargin
