// The model of what a learner has learned.
#include <algorithm>
#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/online/learner.hpp"
#include "maxmargin/online/row_state.hpp"

namespace maxmargin {
namespace {

bool is_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && std::isfinite(value) && !text.empty();
}

std::string_view task_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::classes:
      return "svc";
    case Outcome::number:
      return "svr";
    case Outcome::novelty:
      return "one-class";
  }
  return {};
}

template <class Component>
void add_fields(const Component& component,
                std::vector<std::pair<std::string, std::string>>& options) {
  for_each_field(component, [&](const auto& declared, const auto& value) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
      options.emplace_back(declared.name, shortest(static_cast<double>(value)));
    else
      options.emplace_back(declared.name, to_string(value));
  });
}

}  // namespace

bool are_numbers(const std::vector<std::string>& names) {
  return std::ranges::all_of(names, is_number);
}

/// The coefficient of a slot (linear machines: a feature) in f, or with averaging in the average.
double Learner::average_coefficient(const OnlineMachine& machine, std::size_t at) const {
  if (!options_.average || average_weight_ == 0) return machine.scale * machine.coefficient[at];
  return (machine.scale_sum * machine.coefficient[at] + machine.correction[at]) / average_weight_;
}

Machine Learner::machine_of(std::size_t number) const {
  const OnlineMachine& from = terms_.machines[number];
  const bool averaged = options_.average && average_weight_ > 0;
  const double width = averaged ? from.width_sum / average_weight_ : from.width;
  Machine machine;
  if (outcome_ == Outcome::classes) {
    machine.positive = static_cast<int>(number);
    machine.negative = classes_.size() == 2 ? 1 : Machine::nobody;
  }
  double bias = averaged ? from.bias_sum / average_weight_ : from.bias;
  if (outcome_ == Outcome::novelty) bias -= width;
  if (outcome_ == Outcome::number) machine.width = std::max(0.0, width);
  machine.lambda = {bias};
  machine.iterations = steps_;
  machine.ended = Ended::iteration_limit;  // the stream ended; there is no test of convergence
  machine.certificate.mercer = definite(options_.kernel) != Definite::no;
  return machine;
}

/// A linear machine is stored as one support vector, w, with the coefficient 1.
void Learner::put_linear(Model& model) const {
  for (std::size_t m = 0; m < terms_.machines.size(); ++m) {
    std::vector<Index> features;
    std::vector<double> values;
    for (std::size_t j = 0; j < terms_.machines[m].coefficient.size(); ++j) {
      const double weight = average_coefficient(terms_.machines[m], j);
      if (weight == 0) continue;
      features.push_back(static_cast<Index>(j));
      values.push_back(weight);
    }
    model.support.append(features, values);
    model.support_row.push_back(std::min<std::uint64_t>(m, model.rows - 1));
    model.machines.push_back(machine_of(m));
    model.machines.back().support = {static_cast<Index>(m)};
    model.machines.back().coefficient = {1};
  }
}

void Learner::put_expansion(Model& model) const {
  for (std::size_t m = 0; m < terms_.machines.size(); ++m) model.machines.push_back(machine_of(m));
  for (std::size_t i = 0; i < terms_.expansion.slots(); ++i) {
    if (!terms_.expansion.used(i)) continue;
    const StreamRow row = terms_.expansion.row(i);
    const auto position = static_cast<Index>(model.support_row.size());
    model.support.append(row.features, row.values);
    model.support_row.push_back(row.number);
    for (std::size_t m = 0; m < terms_.machines.size(); ++m) {
      const double coefficient = average_coefficient(terms_.machines[m], i);
      if (coefficient == 0) continue;
      model.machines[m].support.push_back(position);
      model.machines[m].coefficient.push_back(coefficient);
    }
  }
}

Model Learner::model(std::uint64_t rows) const {
  if (outcome_ == Outcome::classes && classes_.size() < 2)
    throw Error(Fault::data,
                classes_.empty() ? "no row with a label was learned"
                                 : "all rows had the label '" + classes_[0] + "'",
                "a model needs rows of two classes");
  if (steps_ == 0) throw Error(Fault::data, "nothing was learned yet", "give rows to learn from");
  Model model;
  model.outcome = outcome_;
  model.multiclass = classes_.size() > 2 ? Multiclass::one_vs_rest : Multiclass::one_vs_one;
  model.kernel = options_.kernel;
  model.features = columns_;
  model.support = Features::sparse(columns_);
  model.classes = classes_;
  model.numeric_classes = are_numbers(classes_);
  model.rows = std::max(rows, steps_);
  model.program = "maxmargin " MAXMARGIN_VERSION;
  model.options.emplace_back("task", task_of(outcome_));
  visit_list(
      [&](const auto& rule) {
        model.options.emplace_back("rule", rule.name);
        add_fields(rule, model.options);
      },
      options_.rule);
  model.options.emplace_back("kernel", name_of(options_.kernel));
  visit_list([&](const auto& kernel) { add_fields(kernel, model.options); }, options_.kernel);
  model.options.emplace_back("lambda", shortest(lambda_));
  model.options.emplace_back("rate", to_string(rate_));
  model.options.emplace_back("eta", shortest(options_.eta));
  if (options_.t0 != 0) model.options.emplace_back("t0", shortest(options_.t0));
  if (options_.average) model.options.emplace_back("average", "true");
  visit_list(
      [&](const auto& truncation) {
        model.options.emplace_back("truncate", truncation.name);
        add_fields(truncation, model.options);
      },
      options_.truncation);
  if (linear_)
    put_linear(model);
  else
    put_expansion(model);
  model.support.fit();
  return model;
}

void Learner::save(const std::string& path, std::uint64_t rows) const {
  maxmargin::save(model(rows), path);
}

}  // namespace maxmargin
