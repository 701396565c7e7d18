#include "maxmargin/train/problems.hpp"

#include <algorithm>
#include <cmath>

namespace maxmargin {
namespace {

double weight_of(const Dataset& data, std::size_t row) {
  return data.weight.empty() ? 1 : data.weight[row];
}

void check_data(const Dataset& data, bool labels_needed) {
  if (data.rows() == 0) throw Error(Fault::data, "there are no rows", "give a file with data");
  if (labels_needed && !data.labelled())
    throw Error(Fault::data, "the data has no labels",
                "give a file with labels, or name the label column (--label)");
  for (std::size_t i = 0; i < data.weight.size(); ++i)
    if (!(data.weight[i] >= 0) || std::isinf(data.weight[i]))
      throw Error(Fault::data,
                  "row " + std::to_string(i + 1) + " has the weight " + shortest(data.weight[i]),
                  "weights are 0 or more");
  const auto counts = [](double weight) { return weight > 0; };
  if (!data.weight.empty() && std::none_of(data.weight.begin(), data.weight.end(), counts))
    throw Error(Fault::data, "every row has weight 0", "give some row a weight above 0");
}

std::vector<double> factors_of_classes(const Svc& task, const Classes& classes) {
  std::vector<double> factors(classes.names.size(), 1);
  for (const auto& [label, factor] : task.class_weights) {
    const auto found = std::find(classes.names.begin(), classes.names.end(), label);
    if (found == classes.names.end()) {
      std::string names;
      for (std::size_t k = 0; k < std::min<std::size_t>(classes.names.size(), 10); ++k)
        names += (k > 0 ? ", " : "") + classes.names[k];
      throw Error(Fault::usage, "there is no class '" + label + "' to give a weight",
                  "the classes are " + names);
    }
    if (!(factor > 0) || std::isinf(factor))
      throw Error(Fault::usage, "the weight of class '" + label + "' is " + shortest(factor),
                  "choose a value greater than 0");
    factors[static_cast<std::size_t>(found - classes.names.begin())] = factor;
  }
  return factors;
}

Subproblems classification(const Dataset& data, const Svc& task) {
  const Classes classes = classes_of(data);
  const std::vector<double> factors = factors_of_classes(task, classes);
  std::vector<std::vector<Example>> members(classes.names.size());
  std::size_t present = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = weight_of(data, i);
    if (weight == 0) continue;
    const Index k = classes.of_row[i];
    const double cost = task.hard_margin ? infinity : task.cost * factors[k] * weight;
    present += members[k].empty();
    members[k].push_back({static_cast<Index>(i), 0, cost});
  }
  if (present < 2)
    throw Error(Fault::data,
                "there is only one class, '" + classes.names[0] + "', with rows of positive weight",
                "classification needs two; for one class use --task one-class");

  Subproblems result;
  result.multiclass = task.multiclass;
  result.classes = classes.names;
  result.numeric_classes = data.words.empty();
  const auto add = [&](int positive, int negative, auto&& is_member) {
    Subproblem problem;
    problem.positive = positive;
    problem.negative = negative;
    problem.loss = Hinge{};
    for (std::size_t k = 0; k < members.size(); ++k) {
      const double target = is_member(static_cast<int>(k));
      if (target == 0) continue;
      for (Example example : members[k]) {
        example.target = target;
        problem.examples.push_back(example);
      }
    }
    // In the order of the data: the same problem whatever the classes are called.
    std::sort(problem.examples.begin(), problem.examples.end(),
              [](const Example& x, const Example& y) { return x.row < y.row; });
    result.list.push_back(std::move(problem));
  };
  const int count = static_cast<int>(members.size());
  const auto empty = [&](int k) { return members[static_cast<std::size_t>(k)].empty(); };
  if (task.multiclass == Multiclass::one_vs_rest && count > 2) {
    for (int k = 0; k < count; ++k)
      if (!empty(k)) add(k, Machine::nobody, [k](int each) { return each == k ? 1.0 : -1.0; });
  } else {
    for (int low = 0; low < count; ++low)
      for (int high = low + 1; high < count; ++high)
        if (!empty(low) && !empty(high))
          add(high, low, [=](int each) { return each == high ? 1.0 : each == low ? -1.0 : 0.0; });
  }
  return result;
}

Subproblems regression(const Dataset& data, const Svr& task) {
  if (!data.words.empty())
    throw Error(Fault::data, "the label '" + data.words.front() + "' is not a number",
                "regression needs numbers; for classes use --task svc");
  Subproblem problem;
  problem.loss = EpsilonInsensitive{task.epsilon, task.over, task.under};
  for (std::size_t i = 0; i < data.rows(); ++i)
    if (const double weight = weight_of(data, i); weight > 0)
      problem.examples.push_back({static_cast<Index>(i), data.y[i], task.cost * weight});
  Subproblems result;
  result.outcome = Outcome::number;
  result.list.push_back(std::move(problem));
  return result;
}

Subproblems novelty(const Dataset& data, const OneClass& task) {
  Subproblem problem;
  problem.loss = Novelty{};
  double sum = 0;
  for (std::size_t i = 0; i < data.rows(); ++i)
    if (const double weight = weight_of(data, i); weight > 0) {
      problem.examples.push_back({static_cast<Index>(i), 1, weight});
      sum += weight;
    }
  problem.total = task.nu * sum;
  Subproblems result;
  result.outcome = Outcome::novelty;
  result.list.push_back(std::move(problem));
  return result;
}

}  // namespace

Subproblems subproblems(const Dataset& data, const Task& task) {
  std::visit([](const auto& chosen) { validate(chosen); }, task);
  check_data(data, !std::holds_alternative<OneClass>(task));
  if (const auto* svc = std::get_if<Svc>(&task)) return classification(data, *svc);
  if (const auto* svr = std::get_if<Svr>(&task)) return regression(data, *svr);
  return novelty(data, std::get<OneClass>(task));
}

}  // namespace maxmargin
