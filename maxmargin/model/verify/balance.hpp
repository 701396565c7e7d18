#pragma once

#include <optional>
#include <vector>

#include "maxmargin/model/verify/enclosed.hpp"

namespace maxmargin {

/// A number that may be moved so that equations hold: its coefficient in each, and its room.
struct Movable {
  std::vector<Extended> column;
  Extended below = 0, above = 0;
};

/// Moves of as many of them as there are equations, with sum of column times move = -residual. The
/// moves are enclosed, and within their room. Nothing where no such choice was found.
struct Moved {
  std::size_t which;
  Enclosed by;
};
std::optional<std::vector<Moved>> balanced(const std::vector<Movable>& movable,
                                           const std::vector<Enclosed>& residual);

}  // namespace maxmargin
