#pragma once

#include <variant>

#include "maxmargin/loss/epsilon_insensitive.hpp"
#include "maxmargin/loss/hinge.hpp"
#include "maxmargin/loss/novelty.hpp"

namespace maxmargin {

/// The list of losses. Each is `blocks(y, cost)`, from which everything else follows, and
/// `value(y, f, cost)`, against which the blocks are tested.
using Loss = std::variant<Hinge, EpsilonInsensitive, Novelty>;

}  // namespace maxmargin
