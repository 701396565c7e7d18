#include "maxmargin/train/settings.hpp"

#include <algorithm>
#include <charconv>

#include "maxmargin/base/error.hpp"
#include "maxmargin/base/memory_budget.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/train/train.hpp"

namespace maxmargin {
namespace {

constexpr std::string_view gamma_name = "gamma";

/// gamma_scale() of the rows as they will be after scaling.
double scaled_gamma(const Rows& rows, std::optional<ScalingKind> scaling) {
  if (!scaling) return gamma_scale(rows);
  Features copy = none_like(rows);
  copy.append(rows);
  apply(learn_scaling(rows, *scaling, MemoryBudget::of_machine().bytes), copy);
  return gamma_scale(copy);
}

/// A class name as models write it: "+1" and "1.0" are "1".
std::string canonical_label(const std::string& text) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  double number = 0;
  const auto [end, code] = std::from_chars(begin, text.data() + text.size(), number);
  return code == std::errc{} && end == text.data() + text.size() ? shortest(number) : text;
}

/// A row of weight 3 counts as three rows.
void balance(const Classes& classes, const Dataset& data, std::span<double> factor) {
  std::vector<double> sum(factor.size(), 0);
  double total = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = data.weight.empty() ? 1 : data.weight[i];
    sum[classes.of_row[i]] += weight;
    total += weight;
  }
  for (std::size_t k = 0; k < factor.size(); ++k)
    if (sum[k] > 0) factor[k] *= total / (static_cast<double>(factor.size()) * sum[k]);
}

}  // namespace

FieldSettings kernel_settings(std::string prefix) {
  FieldSettings settings = settings_of<Kernel>("kernel", std::move(prefix));
  settings.describe_default(gamma_name,
                            "scale, which is 1 / (features * variance); auto is 1 / features");
  return settings;
}

Kernel kernel_without_data(const FieldSettings& settings, std::string_view name) {
  FieldSettings fields = settings;
  const auto given = fields.given(gamma_name);
  if (given == "scale" || given == "auto") fields.give(gamma_name, "1");
  return component_named<Kernel>(fields, name);
}

Kernel kernel_for(const FieldSettings& settings, std::string_view name, const Rows& rows,
                  std::optional<ScalingKind> scaling) {
  FieldSettings fields = settings;
  if (fields.has(name, gamma_name)) {
    const std::string given = fields.given(gamma_name).value_or("scale");
    if (given == "scale")
      fields.give(gamma_name, shortest(scaled_gamma(rows, scaling)));
    else if (given == "auto")
      fields.give(gamma_name,
                  shortest(1.0 / static_cast<double>(std::max<std::size_t>(1, rows.columns))));
  }
  return component_named<Kernel>(fields, name);
}

Task task_for(const FieldSettings& settings, std::string_view name) {
  Task task = component_named<Task>(settings, name);
  if (is_one_problem(task) && !settings.given("bias"))
    visit_list(
        [](auto& chosen) {
          if constexpr (requires { chosen.bias; }) chosen.bias = Bias::none;
        },
        task);
  return task;
}

std::pair<std::string, double> class_factor(std::string_view option, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(Fault::usage, std::string(option) + ": '" + text + "' is not LABEL=FACTOR",
                "write for example " + std::string(option) + " 1=2.5, or balanced");
  return {text.substr(0, equals), parse_number(option, text.substr(equals + 1), positive)};
}

std::vector<std::pair<std::string, double>> class_factors(std::string_view option,
                                                          std::span<const std::string> texts,
                                                          const Dataset& data) {
  const Classes classes = classes_of(data);
  std::vector<double> factor(classes.names.size(), 1);
  for (const std::string& text : texts) {
    if (text == "balanced") {
      balance(classes, data, factor);
      continue;
    }
    const auto [label, given] = class_factor(option, text);
    auto found = std::ranges::find(classes.names, label);
    if (found == classes.names.end())
      found = std::ranges::find(classes.names, canonical_label(label));
    if (found == classes.names.end())
      throw Error(Fault::usage, std::string(option) + ": the data has no class '" + label + "'",
                  suggestion(label, classes.names));
    factor[static_cast<std::size_t>(found - classes.names.begin())] *= given;
  }
  std::vector<std::pair<std::string, double>> factors;
  for (std::size_t k = 0; k < factor.size(); ++k)
    if (factor[k] != 1) factors.emplace_back(classes.names[k], factor[k]);
  return factors;
}

std::optional<ScalingKind> scaling_for(std::string_view name, const Rows& rows) {
  if (name.empty()) return std::nullopt;
  if (name == "auto") return rows.sparse() ? ScalingKind::maximum : ScalingKind::range;
  return scaling_kind(name);
}

}  // namespace maxmargin
