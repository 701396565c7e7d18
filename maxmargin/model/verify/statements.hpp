#pragma once

#include <optional>

#include "maxmargin/model/verify/formulation.hpp"

namespace maxmargin {

/// A field of a model, and why it is not true.
struct Objection {
  std::string field, reason;
};

/// Looks at what a model states besides its certificates: options against the typed values, classes
/// and machines against the data, the scaling. Nothing where all of it is true.
std::optional<Objection> objection_to_statements(const Model& model, const Dataset& data,
                                                 const Formulation& stated, const Rows& visible);

}  // namespace maxmargin
