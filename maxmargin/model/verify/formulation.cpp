#include "maxmargin/model/verify/formulation.hpp"

#include <charconv>
#include <cmath>

namespace maxmargin {
namespace {

[[noreturn]] void throw_option(const std::string& what) {
  throw Error(Fault::data, "the options in this model " + what,
              "verify models that `maxmargin train` wrote");
}

double number_option(const std::string& name, const std::string& value) {
  double number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (fault != std::errc{} || end != value.data() + value.size() || !std::isfinite(number) ||
      number < 0)
    throw_option("give no number for " + name.substr(0, 40));
  return number;
}

/// Options that models from before there was a choice do not have.
void read_choices(std::map<std::string, std::string>& options, Formulation& stated) {
  using Lost = Formulation::Loss;
  static const std::map<std::string, Lost> losses = {
      {"hinge", Lost::hinge},
      {"squared-hinge", Lost::squared_hinge},
      {"huberised-hinge", Lost::huberised_hinge},
      {"logistic", Lost::logistic},
      {"exponential", Lost::exponential},
      {"epsilon-insensitive", Lost::tube},
      {"squared-epsilon-insensitive", Lost::squared_tube},
      {"huber", Lost::huber},
      {"squared", Lost::squared},
      {"pinball", Lost::pinball}};
  const bool classes = stated.kind == Formulation::Kind::svc;
  stated.loss = classes ? Lost::hinge : Lost::tube;
  if (const auto named = options.find("loss"); named != options.end()) {
    const auto known = losses.find(named->second);
    if (known == losses.end() || (known->second < Lost::tube) != classes)
      throw_option("name a loss that does not fit the task");
    stated.loss = known->second;
  }
  if (const auto named = options.find("bias"); named != options.end()) {
    if (named->second == "penalised")
      stated.bias = Formulation::Bias::penalised;
    else if (named->second == "none")
      stated.bias = Formulation::Bias::none;
    else if (named->second != "unpenalised")
      throw_option("name an unknown bias");
  }
}

}  // namespace

Formulation formulation_of(const Model& model) {
  Formulation stated;
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : model.options)
    if (!options.emplace(name, value).second)
      throw_option("state " + name.substr(0, 40) + " twice");
  const std::string task = options["task"];
  const auto number = [&](const char* name, double& into) {
    if (options.contains(name)) into = number_option(name, options[name]);
  };
  const auto needed = [&](const char* name, double& into) {
    if (!options.contains(name)) throw_option("do not state " + std::string(name));
    number(name, into);
  };
  stated.only_weights = options.contains("out-of-core");
  stated.approximated = stated.only_weights || options.contains("approximate");
  number("tolerance", stated.tolerance);
  number("gap", stated.gap);
  number("sigma", stated.sigma);
  number("tau", stated.tau);
  if (task == "svc" || task == "nu-svc") {
    if (task == "svc") {
      needed("cost", stated.cost);
    } else {
      stated.kind = Formulation::Kind::nu_svc;
      needed("nu", stated.nu);
    }
    const std::string hard = options["hard-margin"];
    if (!hard.empty() && hard != "true" && hard != "false")
      throw_option("give no word for hard-margin");
    stated.hard_margin = hard == "true";
    constexpr std::string_view prefix = "class-weight ";
    for (const auto& [name, value] : options)
      if (name.starts_with(prefix))
        stated.class_weight[name.substr(prefix.size())] = number_option(name, value);
  } else if (task == "svr") {
    stated.kind = Formulation::Kind::svr;
    needed("cost", stated.cost);
    needed("epsilon", stated.epsilon);
    number("over", stated.over);
    number("under", stated.under);
  } else if (task == "nu-svr") {
    stated.kind = Formulation::Kind::nu_svr;
    needed("cost", stated.cost);
    needed("nu", stated.nu);
  } else if (task == "one-class") {
    stated.kind = Formulation::Kind::one_class;
    needed("nu", stated.nu);
  } else {
    throw_option("do not state a task");
  }
  if (task == "svc" || task == "svr") read_choices(options, stated);
  return stated;
}

}  // namespace maxmargin
