#pragma once

#include <cstddef>
#include <vector>

namespace maxmargin {

/// Variables whose blocks have a corner, side by side: what on_path gives for one of them, for many
/// at a time.
struct PathVariables {
  explicit PathVariables(std::size_t room)
      : h(room), linear(room), lower(room), upper(room), t(room), give(room), drift(room) {}

  std::vector<double> h, linear, lower, upper;  ///< given
  std::vector<double> t, give, drift;           ///< found

  /// Of the blocks' values at t and of their conjugates at -h.
  struct Sums {
    double values = 0, conjugates = 0;
  };
  /// The first `count` of them, for mu > 0.
  Sums find(std::size_t count, double mu);
};

}  // namespace maxmargin
