#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace maxmargin {

/// A point between bounds, and how far steps may take it.
struct BoundedPoint {
  std::vector<double> x, lower, upper;

  void reserve(std::size_t count) {
    for (std::vector<double>* each : {&x, &lower, &upper}) each->reserve(count);
  }
  void add(double value, double least, double most) {
    x.push_back(value);
    lower.push_back(least);
    upper.push_back(most);
  }
  std::size_t size() const { return x.size(); }

  /// The distance from the nearer bound; infinity where both are, or x itself.
  double room(std::size_t i) const { return std::min(x[i] - lower[i], upper[i] - x[i]); }
  /// How much of a change the bounds allow, at most `length`.
  double reach(std::size_t i, double change, double length) const {
    if (change == 0) return length;
    const double part = ((change > 0 ? upper[i] : lower[i]) - x[i]) / change;
    return part < length ? std::max(0.0, part) : length;
  }
  /// Whether a change leads to a bound, up to rounding.
  bool meets(std::size_t i, double change) const {
    constexpr double rounding = 1e-12;
    const double left = change > 0 ? upper[i] - x[i] : x[i] - lower[i];
    return left <= std::abs(change) * (1 + rounding);
  }
  void move(std::size_t i, double change) { x[i] = std::clamp(x[i] + change, lower[i], upper[i]); }
};

}  // namespace maxmargin
