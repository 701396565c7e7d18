#pragma once

#include "maxmargin/model/verify/examine.hpp"
#include "maxmargin/model/verify/statements.hpp"

namespace maxmargin {

/// Compares what a certificate states with what has been found, and names the first field that is
/// not consistent with it. Fields are true that lie within the enclosures; no number of the
/// certificate excuses another. `whole`: of machines that are one problem, the sums of their
/// certificates.
std::optional<Objection> refutation(const Formulation& stated, const Machine& machine,
                                    const Examined& found, const Certificate& whole);

/// Whether what is found is too vague to judge what is claimed: by more than this share of it.
std::optional<Objection> vagueness(const Formulation& stated, const Certificate& stored,
                                   const Examined& found, Extended share);

}  // namespace maxmargin
