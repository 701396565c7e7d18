#include "maxmargin/model/verify/statements.hpp"

#include <algorithm>
#include <charconv>

#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/model/verify/dual_pieces.hpp"

namespace maxmargin {
namespace {

using Found = std::optional<Objection>;

std::optional<std::string> option(const Model& model, std::string_view name) {
  for (const auto& [each, value] : model.options)
    if (each == name) return value;
  return std::nullopt;
}

bool is_same_number(const std::string& text, double value) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc{} && end == text.data() + text.size() && number == value;
}

/// The kernel's name and parameters as text are those that predictions are made with.
Found wrong_kernel_text(const Model& model) {
  Found found;
  const auto differs = [&](std::string_view name, const std::string& text) {
    found = {"option " + std::string(name),
             "the options say " + std::string(name) + " " + text + ", the kernel has another"};
  };
  visit_list(
      [&](const auto& kernel) {
        if (const auto text = option(model, "kernel"); text && *text != kernel.name)
          differs("kernel", *text);
        for_each_field(kernel, [&](const auto& declared, const auto& value) {
          using Value = std::remove_cvref_t<decltype(value)>;
          const auto text = option(model, declared.name);
          if (!text || found) return;
          if constexpr (std::is_same_v<Value, bool>) {
            if (*text != (value ? "true" : "false")) differs(declared.name, *text);
          } else if constexpr (std::is_arithmetic_v<Value>) {
            if (!is_same_number(*text, static_cast<double>(value))) differs(declared.name, *text);
          } else {
            if (*text != to_string(value)) differs(declared.name, *text);
          }
        });
      },
      model.kernel);
  return found;
}

Found wrong_kind(const Model& model, const Formulation& stated) {
  if (model.outcome != outcome_of(stated.task))
    return Objection{"outcome", "the task predicts something else"};
  Found found;
  visit_list(
      [&](const auto& task) {
        if constexpr (requires { task.multiclass; })
          if (task.multiclass != model.multiclass)
            found = {"multiclass", "the options say " + std::string(to_string(task.multiclass)) +
                                       ", the model says " +
                                       std::string(to_string(model.multiclass))};
      },
      stated.task);
  return found;
}

/// Classes are those of the data, and every machine of the scheme is there.
Found wrong_classes(const Model& model, const Dataset& data) {
  if (model.outcome != Outcome::classes) return {};
  const Classes classes = classes_of(data);
  if (model.classes != classes.names)
    return Objection{"classes", "the classes are not those of the data"};
  if (model.numeric_classes != data.words.empty())
    return Objection{"numeric_classes", "whether labels are numbers is not as in the data"};
  std::vector<bool> seen(classes.names.size(), false);
  for (std::size_t i = 0; i < data.rows(); ++i)
    if (data.weight.empty() || data.weight[i] > 0) seen[classes.of_row[i]] = true;
  std::vector<std::pair<int, int>> expected, present;
  with_scheme(model.multiclass, [&](auto scheme) {
    for (const Sides& sides : scheme.machines(seen))
      expected.emplace_back(std::minmax(sides.positive, sides.negative));
  });
  for (const Machine& machine : model.machines)
    present.emplace_back(std::minmax(machine.positive, machine.negative));
  std::ranges::sort(expected);
  std::ranges::sort(present);
  if (present == expected && model.untrained.none()) return {};
  const bool may_lack = !model.untrained.none() && std::ranges::includes(expected, present);
  if (may_lack) return {};
  return Objection{"machines", "of " + std::to_string(expected.size()) +
                                   " machines that the classes need, " +
                                   std::to_string(present.size()) + " are there"};
}

/// The classes of machines that were not trained lose by f = 0 what is said that they lose.
Found wrong_untrained(const Model& model, const Dataset& data, const Formulation& stated) {
  if (model.untrained.none()) return {};
  const Classes classes = classes_of(data);
  std::vector<Extended> loss(classes.names.size(), 0);
  const TextbookLoss textbook(stated.loss);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = data.weight.empty() ? 1 : data.weight[i];
    if (weight == 0) continue;
    const Index k = classes.of_row[i];
    const auto factor = stated.class_weight.find(classes.names[k]);
    const Extended price =
        stated.price * weight * (factor == stated.class_weight.end() ? 1 : factor->second);
    loss[k] += textbook.value(1, 0, price, 0);
  }
  constexpr Extended slack = 1e-9L;  // sums that are rounded up row by row are a little larger
  for (std::size_t k = 0; k < loss.size(); ++k) {
    const double said = model.untrained.loss[k];
    if (said == infinity && loss[k] > 0) continue;  // nothing is claimed
    if (said < static_cast<double>(loss[k]) || said > static_cast<double>(loss[k] * (1 + slack)))
      return Objection{"untrained", "class '" + classes.names[k] + "' loses " +
                                        shortest(static_cast<double>(loss[k])) +
                                        " where f = 0, not " + shortest(said)};
  }
  return {};
}

Found wrong_scaling(const Model& model, const Rows& visible) {
  if (model.scaling.factor.empty()) return {};
  const Scaling learned =
      learn_scaling(visible, model.scaling.kind, MemoryBudget::of_machine().bytes);
  if (learned.feature != model.scaling.feature)
    return Objection{"scaling", "the features that it lists are not those of the data"};
  for (std::size_t j = 0; j < learned.factor.size(); ++j)
    if (j >= model.scaling.factor.size() || learned.factor[j] != model.scaling.factor[j] ||
        learned.offset[j] != model.scaling.offset[j])
      return Objection{
          "scaling",
          "feature " +
              std::to_string((learned.lists_features() ? std::uint64_t{learned.feature[j]} : j) +
                             1) +
              " is scaled otherwise than the data asks for"};
  return {};
}

Found wrong_rest(const Model& model, const Dataset& data, const Formulation& stated) {
  if (!model.feature_names.empty() && !data.feature_names.empty() &&
      model.feature_names != data.feature_names)
    return Objection{"feature_names", "the features are called otherwise in the data"};
  for (const Machine& machine : model.machines) {
    if (!stated.is_nu() && machine.width != 0)
      return Objection{"width", "only machines with nu have one"};
    if (stated.bias == Bias::none && machine.bias() != 0)
      return Objection{"lambda", "there is a bias where none was asked for"};
    if (stated.bias != Bias::none && machine.lambda.empty())
      return Objection{"lambda", "there is no bias where one was asked for"};
  }
  return {};
}

}  // namespace

std::optional<Objection> objection_to_statements(const Model& model, const Dataset& data,
                                                 const Formulation& stated, const Rows& visible) {
  if (auto found = wrong_kind(model, stated)) return found;
  if (auto found = wrong_kernel_text(model)) return found;
  if (auto found = wrong_classes(model, data)) return found;
  if (auto found = wrong_untrained(model, data, stated)) return found;
  if (auto found = wrong_scaling(model, visible)) return found;
  return wrong_rest(model, data, stated);
}

}  // namespace maxmargin
