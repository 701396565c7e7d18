#pragma once

#include <optional>

#include "maxmargin/model/verify/verify.hpp"

namespace maxmargin {

/// `verify` for the two kinds of machines that are no DualQp of their own: those of Crammer and
/// Singer, which are one problem together, and the linear-programming machine, which keeps no dual
/// variables, so that only its primal can be known. Nothing for all others. Kernel values pair by
/// pair and feature by feature, in double.
std::optional<std::vector<Verified>> verify_one_problem(const Model& model, const Dataset& data,
                                                        const Threads& threads);

}  // namespace maxmargin
