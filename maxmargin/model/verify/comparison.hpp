#pragma once

#include "maxmargin/model/verify/examine.hpp"
#include "maxmargin/model/verify/statements.hpp"

namespace maxmargin {

/// Compares a certificate with what was recomputed, and names the first field that contradicts it.
/// A field is true where it lies within the enclosure; no number of the certificate excuses
/// another. `whole`: of machines that are one problem, the sums of their certificates.
std::optional<Objection> refutation(const Formulation& stated, const Machine& machine,
                                    const Examined& found, const Certificate& whole);

/// Whether the enclosures are too wide to judge the gap that is claimed: by more than this share of
/// it.
std::optional<Objection> vagueness(const Formulation& stated, const Certificate& stored,
                                   const Examined& found, Extended share);

}  // namespace maxmargin
