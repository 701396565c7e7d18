#pragma once

#include <optional>
#include <string>
#include <vector>

#include "maxmargin/data/rows.hpp"

namespace maxmargin::cli::libsvm {

/// From where to where an interval of values is mapped.
struct Target {
  double lower = -1, upper = 1;
};
struct Range {
  double low = 0, high = 0;

  bool constant() const { return low == high; }
  /// In the order of LIBSVM's operations, so that the same digits come out.
  double mapped(double value, const Target& to) const {
    if (value == low) return to.lower;
    if (value == high) return to.upper;
    return to.lower + (to.upper - to.lower) * (value - low) / (high - low);
  }
};

/// What svm-scale learns from a file, applies, and keeps in a file of its own:
///
///   y                  only with -y
///   lower upper
///   min max
///   x
///   lower upper
///   index min max      of each feature that is not constant
struct Ranges {
  std::optional<Target> y_target;
  Range y;
  Target x_target;
  std::vector<Index> feature;  ///< increasing
  std::vector<Range> of;
};

std::string range_text(const Ranges& ranges);

/// Throws Error, with the place, for what does not have that form.
Ranges load_ranges(const std::string& path);

}  // namespace maxmargin::cli::libsvm
