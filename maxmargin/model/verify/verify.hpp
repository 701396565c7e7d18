#pragma once

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// What `verify` finds for one machine, and whether the stored certificate holds.
struct Verified {
  Certificate recomputed;
  bool holds = false;
  std::string reason;  ///< why it does not
  /// The model keeps the basis functions of an approximated kernel and no dual variables: its
  /// primal is recomputed, the rest of `recomputed` is what is stored.
  bool primal_only = false;
};

/// Recomputes every certificate from the model's coefficients and the training data by a slow
/// double loop that shares no code with kernels' engines, solvers or certify(). `data` is the
/// training data as read, before scaling.
std::vector<Verified> verify(const Model& model, const Dataset& data, const Threads& threads);

}  // namespace maxmargin
