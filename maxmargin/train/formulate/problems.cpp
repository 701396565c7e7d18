#include "maxmargin/train/formulate/problems.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

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
  if (!data.weight.empty() && std::none_of(data.weight.begin(), data.weight.end(), counts) &&
      std::none_of(data.weight_over.begin(), data.weight_over.end(), counts))
    throw Error(Fault::data, "every row has weight 0", "give some row a weight above 0");
}

/// Two weights a row are for the two sides of an error.
void check_two_weights(const Dataset& data, const Task& task) {
  if (data.weight_over.empty()) return;
  const auto* svr = std::get_if<Svr>(&task);
  if (svr == nullptr || svr->own)
    throw Error(Fault::usage, "two weights a row are for --task svr and its losses",
                "give one weight a row");
  if (data.weight.size() != data.rows() || data.weight_over.size() != data.rows())
    throw Error(Fault::data, "some rows have two weights and others not",
                "give two weights a row, or one");
  for (std::size_t i = 0; i < data.weight_over.size(); ++i)
    if (!(data.weight_over[i] >= 0) || std::isinf(data.weight_over[i]))
      throw Error(
          Fault::data,
          "row " + std::to_string(i + 1) + " has the weight " + shortest(data.weight_over[i]),
          "weights are 0 or more");
}

std::vector<double> factors_of_classes(
    const std::vector<std::pair<std::string, double>>& class_weights, const Classes& classes) {
  std::vector<double> factors(classes.names.size(), 1);
  for (const auto& [label, factor] : class_weights) {
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

template <class Classification>
Subproblems classification(const Dataset& data, const Classification& task) {
  const Classes classes = classes_of(data);
  const std::vector<double> factors = factors_of_classes(task.class_weights, classes);
  std::vector<std::vector<Example>> members(classes.names.size());
  std::size_t present = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = weight_of(data, i);
    if (weight == 0) continue;
    const Index k = classes.of_row[i];
    present += members[k].empty();
    members[k].push_back({static_cast<Index>(i), 0, task.price() * factors[k] * weight});
  }
  if (present < 2)
    throw Error(Fault::data,
                "there is only one class, '" + classes.names[0] + "', with rows of positive weight",
                "classification needs two; for one class use --task one-class");

  Subproblems result;
  result.multiclass = task.multiclass;
  result.classes = classes.names;
  result.numeric_classes = data.words.empty();
  std::vector<bool> is_present;
  for (const auto& each : members) is_present.push_back(!each.empty());
  Subproblem like;
  like.loss = loss_of(task);
  like.bias = bias_of(task);
  with_scheme(task.multiclass, [&](auto scheme) {
    result.list = {std::move(members), scheme.machines(is_present), std::move(like)};
  });
  return result;
}

template <class Regression>
Subproblems regression(const Dataset& data, const Regression& task) {
  if (!data.words.empty())
    throw Error(Fault::data, "the label '" + data.words.front() + "' is not a number",
                "regression needs numbers; for classes use --task svc");
  Subproblem problem;
  problem.loss = loss_of(task);
  problem.bias = bias_of(task);
  std::vector<Example>& examples = problem.examples.own();
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = weight_of(data, i);
    const double over = data.weight_over.empty() ? weight : data.weight_over[i];
    if (!(weight > 0 || over > 0)) continue;
    examples.push_back({static_cast<Index>(i), data.y[i], task.price() * weight});
    if (!data.weight_over.empty()) examples.back().cost_over = task.price() * over;
  }
  Subproblems result;
  result.outcome = Outcome::number;
  result.list.push_back(std::move(problem));
  return result;
}

Subproblems novelty(const Dataset& data, const OneClass& task) {
  Subproblem problem;
  problem.loss = loss_of(task);
  for (std::size_t i = 0; i < data.rows(); ++i)
    if (const double weight = weight_of(data, i); weight > 0)
      problem.examples.own().push_back({static_cast<Index>(i), 1, task.price() * weight});
  Subproblems result;
  result.outcome = Outcome::novelty;
  result.list.push_back(std::move(problem));
  return result;
}

/// Nothing where the loss has no nu that could be too large.
std::optional<double> nu_of_sides(const Subproblem& problem) {
  if (problem.bias != Bias::unpenalised) return std::nullopt;  // there are no sides
  const auto* margin = std::get_if<NuMargin>(&problem.loss);
  return margin == nullptr ? std::nullopt : std::optional(margin->nu);
}

/// "120 rows", or their weight.
std::string amount(double weight, std::size_t rows) {
  const std::string counted = std::to_string(rows) + (rows == 1 ? " row" : " rows");
  return weight == static_cast<double>(rows) ? counted
                                             : counted + " (weight " + shortest(weight) + ")";
}

struct SideWeights {
  double weight[2] = {0, 0};
  std::size_t rows[2] = {0, 0};

  explicit SideWeights(const Subproblem& problem) {
    for (const Example& example : problem.examples) {
      weight[example.target > 0] += example.cost;
      ++rows[example.target > 0];
    }
  }
  double largest_nu() const { return 2 * std::min(weight[0], weight[1]) / (weight[0] + weight[1]); }
};

/// The largest nu of each machine, told to `see(number, nu)`. Of millions, by the sums of classes.
template <class See>
void for_each_largest_nu(const SubproblemList& list, See&& see) {
  if (list.is_kept()) {
    for (std::size_t k = 0; k < list.size(); ++k) see(k, SideWeights(list[k]).largest_nu());
    return;
  }
  const std::vector<double> costs = list.costs_of_classes();
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Sides sides = list.sides(k);
    const double one = costs[static_cast<std::size_t>(sides.positive)];
    const double other = sides.negative == Sides::nobody
                             ? all - one
                             : costs[static_cast<std::size_t>(sides.negative)];
    see(k, 2 * std::min(one, other) / (one + other));
  }
}

void require_feasible(const Subproblems& problems) {
  // The nu asked for may be the largest feasible value, rounded.
  constexpr double rounding = 1e-12;
  if (problems.list.empty() || !nu_of_sides(problems.list.front())) return;
  std::optional<std::size_t> number;
  double largest = 1;
  for_each_largest_nu(problems.list, [&](std::size_t k, double feasible) {
    if (feasible >= largest) return;
    largest = feasible;
    number = k;
  });
  if (!number || *nu_of_sides(problems.list.front()) <= largest * (1 + rounding)) return;
  const Subproblem tightest = problems.list[*number];
  const SideWeights sides(tightest);
  const auto name = [&](int number) {
    return number == Sides::nobody ? std::string("the rest")
                                   : "'" + problems.classes[static_cast<std::size_t>(number)] + "'";
  };
  // Down to six digits, so that what is advised is feasible.
  const double advised = std::floor(largest * 1e6) / 1e6;
  throw Error(Fault::usage,
              "nu = " + shortest(*nu_of_sides(tightest)) + " is infeasible for " +
                  amount(sides.weight[1], sides.rows[1]) + " of class " + name(tightest.positive) +
                  " and " + amount(sides.weight[0], sides.rows[0]) + " of " +
                  (tightest.negative == Sides::nobody ? "" : "class ") + name(tightest.negative),
              "the largest feasible nu is " + shortest(advised > 0 ? advised : largest));
}

}  // namespace

Subproblems subproblems(const Dataset& data, const Task& task) {
  visit_list([](const auto& chosen) { validate(chosen); }, task);
  check_data(data, outcome_of(task) != Outcome::novelty);
  check_two_weights(data, task);
  Subproblems result = visit_list(
      [&]<class Chosen>(const Chosen& chosen) {
        if constexpr (Chosen::outcome == Outcome::classes) return classification(data, chosen);
        if constexpr (Chosen::outcome == Outcome::number) return regression(data, chosen);
        if constexpr (Chosen::outcome == Outcome::novelty) return novelty(data, chosen);
      },
      task);
  require_feasible(result);
  return result;
}

Subproblems without(const Subproblems& problems, const std::vector<bool>& left_out) {
  Subproblems result;
  result.outcome = problems.outcome;
  result.multiclass = problems.multiclass;
  result.classes = problems.classes;
  result.numeric_classes = problems.numeric_classes;
  result.list = problems.list.without(left_out);
  require_feasible(result);
  return result;
}

}  // namespace maxmargin
