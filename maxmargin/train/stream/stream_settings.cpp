#include "maxmargin/train/stream/stream_settings.hpp"

#include "maxmargin/base/error.hpp"

namespace maxmargin {

StreamSettings::StreamSettings(std::string before)
    : prefix(std::move(before)),
      rule(settings_of<Rule>("rule", prefix)),
      truncation(settings_of<Truncation>("truncation", prefix)) {}

std::unique_ptr<StreamLearner> StreamSettings::make() const {
  if (lasvm || exact) return std::make_unique<DualLearner>(dual_learner());
  for (const auto& [text, name] : {std::pair{&cost, "cost"}, std::pair{&tolerance, "tolerance"}})
    if (!text->empty())
      throw Error(Fault::usage, prefix + name + " has no effect with a rule",
                  "leave it out, or add " + prefix + "lasvm or " + prefix + "exact");
  return std::make_unique<Learner>(learner());
}

DualLearnerOptions StreamSettings::dual_learner() const {
  if (lasvm && exact)
    throw Error(Fault::usage, prefix + "lasvm and " + prefix + "exact exclude each other",
                "give one");
  const bool ruled = rule_name != "soft-margin" || truncation_name != "none" || !lambda.empty() ||
                     !rate.empty() || !eta.empty() || !t0.empty() || no_bias || average || keep ||
                     !rule.first_given().empty() || !truncation.first_given().empty();
  if (ruled)
    throw Error(Fault::usage, "a dual machine has no rule, rate or truncation",
                "leave them out, or " + prefix + "lasvm and " + prefix + "exact");
  DualLearnerOptions options;
  options.kernel = kernel;
  if (!cost.empty()) options.cost = parse_number(prefix + "cost", cost, positive);
  if (!tolerance.empty())
    options.tolerance = parse_number(prefix + "tolerance", tolerance, positive);
  if (exact) options.window = window;
  return options;
}

LearnerOptions StreamSettings::learner() const {
  LearnerOptions options;
  options.rule = component_named<Rule>(rule, rule_name);
  options.truncation = component_named<Truncation>(truncation, truncation_name);
  options.kernel = kernel;
  if (!lambda.empty()) options.lambda = parse_number(prefix + "lambda", lambda, non_negative);
  if (!eta.empty()) options.eta = parse_number(prefix + "eta", eta, positive);
  if (!t0.empty()) options.t0 = parse_number(prefix + "t0", t0, non_negative);
  if (!rate.empty()) {
    Rate chosen{};
    parse_field(prefix + "rate", rate, finite, chosen);
    options.rate = chosen;
  }
  options.bias = !no_bias;
  options.average = average;
  options.keep = keep;
  return options;
}

Kernel kernel_of_stream(const FieldSettings& settings, std::string_view name) {
  const std::string given = settings.given("gamma").value_or("scale");
  if (settings.has(name, "gamma") && (given == "scale" || given == "auto"))
    throw Error(Fault::usage,
                "kernel " + std::string(name) + " needs a gamma (--gamma): there is no data yet",
                "give a number; 1 / (features * variance) is a start");
  return component_named<Kernel>(settings, name);
}

}  // namespace maxmargin
