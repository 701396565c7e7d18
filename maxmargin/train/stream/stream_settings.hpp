#pragma once

#include <memory>
#include <optional>
#include <string>

#include "maxmargin/base/settings.hpp"
#include "maxmargin/online/dual_learner.hpp"
#include "maxmargin/online/learner.hpp"

namespace maxmargin {

/// The settings of a stream learner as text, and the learner.
struct StreamSettings {
  /// `prefix`: what stands before a name in messages, "--" on a command line.
  explicit StreamSettings(std::string prefix = "");

  std::string prefix;
  FieldSettings rule, truncation;
  std::string rule_name = "soft-margin", truncation_name = "none";
  Kernel kernel = Linear{};
  std::string lambda, rate, eta, t0;  ///< empty: the rule's own
  bool no_bias = false, average = false, keep = false;

  // In place of a rule.
  bool lasvm = false, exact = false;
  std::string cost, tolerance;
  std::uint64_t window = 1000;

  // Each throws a usage Error for whatever is wrong with what was given.
  LearnerOptions learner() const;
  DualLearnerOptions dual_learner() const;
  std::unique_ptr<StreamLearner> make() const;
};

/// The kernel where there is no data yet: a gamma that only data could tell is a usage Error.
Kernel kernel_of_stream(const FieldSettings& settings, std::string_view name);

}  // namespace maxmargin
