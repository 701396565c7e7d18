#pragma once

#include "maxmargin/model/model.hpp"

namespace maxmargin {

/// The verdict on a statement.
enum class Verdict { is_true, is_false, cannot_tell };
std::string_view to_string(Verdict verdict);  ///< "true", "false", "cannot tell"

/// What `verify` finds for one machine. Objectives and violations of `recomputed` are bounds: the
/// optimum lies between its dual and its primal, rounding included.
struct Verified {
  Certificate recomputed;
  Verdict verdict = Verdict::cannot_tell;
  bool holds = false;  ///< the verdict is `is_true`
  std::string field;   ///< the first that is not true, or cannot be told
  std::string reason;  ///< why
  /// The model keeps the basis functions of an approximated kernel and no dual variables: its
  /// primal is recomputed, the rest of `recomputed` is what is stored.
  bool primal_only = false;
};

/// The judgement of a whole model: the worst verdict of its machines, and of what it states
/// besides.
struct Judgement {
  std::vector<Verified> machines;
  Verdict verdict = Verdict::cannot_tell;
  std::string field, reason;  ///< what is wrong with the model as a whole
  std::string precision;      ///< what kernel values were computed in: "double" or "extended"
  bool primal_only = false;
  bool sampled = false;  ///< that K is positive semi-definite is known from some of its rows only
  bool calibrated = false;  ///< there is a calibration, which is not looked at here
};

/// Recomputes every certificate, and whatever else the model states or decides predictions by, from
/// its coefficients and the training data, by code that shares nothing with kernels' engines,
/// solvers or certify(), in arithmetic whose errors are bounded. No allowance is taken from the
/// model. `data` is the training data as read, before scaling. Throws Error where it is other data.
Judgement judge(const Model& model, const Dataset& data, const Threads& threads);

/// The machines alone; what is wrong with the model as a whole is wrong with each.
std::vector<Verified> verify(const Model& model, const Dataset& data, const Threads& threads);

}  // namespace maxmargin
