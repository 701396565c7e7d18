#pragma once

#include <variant>

#include "maxmargin/loss/epsilon_insensitive.hpp"
#include "maxmargin/loss/exponential.hpp"
#include "maxmargin/loss/hinge.hpp"
#include "maxmargin/loss/huber.hpp"
#include "maxmargin/loss/huberised_hinge.hpp"
#include "maxmargin/loss/logistic.hpp"
#include "maxmargin/loss/novelty.hpp"
#include "maxmargin/loss/nu_margin.hpp"
#include "maxmargin/loss/nu_tube.hpp"
#include "maxmargin/loss/own_loss.hpp"
#include "maxmargin/loss/pinball.hpp"
#include "maxmargin/loss/squared.hpp"
#include "maxmargin/loss/squared_epsilon_insensitive.hpp"
#include "maxmargin/loss/squared_hinge.hpp"

namespace maxmargin {

// The list of losses. Each is `blocks(y, cost)`, from which everything else follows, and
// `value(y, f, cost)`, against which the blocks are tested. A loss with a `nu` says what the
// variables sum to: nu times all costs; or, if it has `by_side`, half of that for those of each
// sign.

/// The prices of an error in classification, y = +1 or -1.
using MarginLoss = std::variant<Hinge, SquaredHinge, HuberisedHinge, Logistic, Exponential>;

/// The prices of an error in regression.
using ErrorLoss =
    std::variant<EpsilonInsensitive, SquaredEpsilonInsensitive, Huber, Squared, Pinball>;

/// Those that a task with nu has without being asked.
using NuLoss = std::variant<Novelty, NuMargin, NuTube>;

/// What no text can name: the user's function, from C++.
using GivenLoss = std::variant<OwnLoss>;

template <class... Lists>
struct JoinedLists;
template <class... A, class... B, class... C, class... D>
struct JoinedLists<std::variant<A...>, std::variant<B...>, std::variant<C...>, std::variant<D...>> {
  using type = std::variant<A..., B..., C..., D...>;
};
using Loss = JoinedLists<MarginLoss, ErrorLoss, NuLoss, GivenLoss>::type;

}  // namespace maxmargin
