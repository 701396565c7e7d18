#pragma once

#include <memory>

#include "maxmargin/kernel/engine/engine.hpp"

namespace maxmargin {

/// An engine that leaves out the blocks in which all values are negligible (see locality.hpp),
/// around one that computes the others. `nonzero_share` is the share of values that are not.
std::unique_ptr<Engine> make_narrow_engine(const Form& form, std::unique_ptr<Engine> engine,
                                           const Rows& columns, double nonzero_share);

}  // namespace maxmargin
