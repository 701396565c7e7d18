#include "cli/repeat.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "cli/components.hpp"

namespace maxmargin::cli {
namespace {

using Texts = std::map<std::string, std::string>;

Task task_from(const Texts& texts) {
  Task task;
  const auto name = texts.find("task");
  if (name == texts.end()) throw Error(Fault::data, "the model states no task", "train it again");
  for_each_component<Task>([&](auto component) {
    if (component.name != name->second) return;
    for_each_field(component, [&](const auto& declared, auto& value) {
      if (const auto text = texts.find(std::string(declared.name)); text != texts.end())
        parse_field(declared.name, text->second, declared.range, value);
    });
    if constexpr (requires { component.class_weights; }) {
      constexpr std::string_view prefix = "class-weight ";
      for (const auto& [option, text] : texts)
        if (option.starts_with(prefix))
          component.class_weights.emplace_back(option.substr(prefix.size()),
                                               parse_number(option, text, positive));
      const auto scheme = texts.find("multiclass");
      if (scheme != texts.end() && scheme->second == "ovr")
        component.multiclass = Multiclass::one_vs_rest;
    }
    task = component;
  });
  return task;
}

/// The last digits of probabilities depend on the order of sums alone.
bool is_near(double x, double y) {
  return x == y || std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
}

}  // namespace

TrainOptions options_from(const Model& model) {
  const Texts texts(model.options.begin(), model.options.end());
  TrainOptions options;
  options.task = task_from(texts);
  options.kernel = model.kernel;
  options.functions = model.functions;
  options.seed = model.seed;
  options.probability_folds = model.calibration.folds;
  if (!model.scaling.factor.empty()) options.scaling = model.scaling.kind;
  const auto number = [&](const char* name, double& into) {
    if (const auto text = texts.find(name); text != texts.end())
      into = parse_number(name, text->second, positive);
  };
  number("tolerance", options.stop.kkt);
  number("gap", options.stop.relative_gap);
  if (const auto solver = texts.find("solver"); solver != texts.end())
    options.solver = solver->second;
  return options;
}

std::string differing_calibration(const Model& model, Dataset data, const Threads& threads) {
  const Calibration& stored = model.calibration;
  const Calibration now = train(std::move(data), options_from(model), threads).model.calibration;
  const auto differs = [](const std::string& what, double found, double claimed) {
    return fmt::format("the {} is {}, not {}", what, found, claimed);
  };
  if (!is_near(now.weight, stored.weight)) return differs("weight", now.weight, stored.weight);
  if (!is_near(now.noise, stored.noise)) return differs("noise", now.noise, stored.noise);
  if (now.sigmoid.size() != stored.sigmoid.size() || now.marks.size() != stored.marks.size())
    return "it has other parts";
  for (std::size_t m = 0; m < now.sigmoid.size(); ++m) {
    if (!is_near(now.sigmoid[m].slope, stored.sigmoid[m].slope))
      return differs("slope of a sigmoid", now.sigmoid[m].slope, stored.sigmoid[m].slope);
    if (!is_near(now.sigmoid[m].offset, stored.sigmoid[m].offset))
      return differs("offset of a sigmoid", now.sigmoid[m].offset, stored.sigmoid[m].offset);
  }
  for (std::size_t k = 0; k < now.marks.size(); ++k)
    if (!is_near(now.marks[k], stored.marks[k]))
      return differs("quantile", now.marks[k], stored.marks[k]);
  return {};
}

}  // namespace maxmargin::cli
