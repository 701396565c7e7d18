#include "maxmargin/model/verify/formulation.hpp"

#include <cmath>

namespace maxmargin {
namespace {

[[noreturn]] void throw_unstated(const std::string& what) {
  throw Error(Fault::data, "the options in this model state no task: " + what,
              "verify models that `maxmargin train` wrote");
}

}  // namespace

Formulation formulation_of(const Model& model) {
  if (!model.task) throw_unstated(task_stated_in(model.options).obstacle);
  Formulation stated;
  stated.task = *model.task;
  stated.loss = loss_of(stated.task);
  stated.bias = bias_of(stated.task);
  visit_list(
      [&](const auto& task) {
        stated.price = task.price();
        if constexpr (requires { task.nu; }) stated.nu = task.nu;
        if constexpr (requires { task.class_weights; })
          stated.class_weight = {task.class_weights.begin(), task.class_weights.end()};
      },
      stated.task);
  stated.hard_margin = std::isinf(stated.price);
  std::map<std::string_view, const std::string*> options;
  for (const auto& [name, value] : model.options)
    if (!options.emplace(name, &value).second)
      throw_unstated(name.substr(0, 40) + " is stated twice");
  if (std::holds_alternative<OwnLoss>(stated.loss) || options.contains(own_cost_name))
    throw Error(Fault::usage, "the model's cost is a function of the program that trained it",
                "its certificate cannot be recomputed here");
  const auto number = [&](std::string_view name, double& into) {
    if (options.contains(name)) into = parse_number(name, *options[name], non_negative);
  };
  number("tolerance", stated.tolerance);
  number("gap", stated.gap);
  stated.together = is_one_problem(model.multiclass);
  stated.expansion = options.contains("regulariser") && *options["regulariser"] == "l1";
  stated.only_weights = options.contains("out-of-core");
  stated.approximated = stated.only_weights || options.contains("approximate");
  return stated;
}

}  // namespace maxmargin
