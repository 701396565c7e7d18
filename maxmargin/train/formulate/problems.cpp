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
  const Loss loss = loss_of(task);
  const Bias bias = bias_of(task);
  std::vector<std::size_t> every_class(members.size());
  std::iota(every_class.begin(), every_class.end(), std::size_t{0});
  const auto add = [&](const Sides& sides) {
    Subproblem problem;
    static_cast<Sides&>(problem) = sides;
    problem.loss = loss;
    problem.bias = bias;
    // Of thousands of classes, a pair looks at its own two only.
    const auto [less, more] = std::minmax(sides.positive, sides.negative);
    const std::size_t pair[] = {static_cast<std::size_t>(less), static_cast<std::size_t>(more)};
    const std::span<const std::size_t> both = pair, all = every_class;
    const std::span<const std::size_t> taken = sides.negative == Sides::nobody ? all : both;
    std::size_t second = 0, size = 0;  // where the last class begins
    for (const std::size_t k : taken) size += members[k].size();
    problem.examples.reserve(size);
    for (const std::size_t k : taken) {
      second = problem.examples.size();
      for (Example example : members[k]) {
        example.target = static_cast<int>(k) == sides.positive ? 1.0 : -1.0;
        problem.examples.push_back(example);
      }
    }
    // In the order of the data: the same problem whatever the classes are called.
    const auto first = problem.examples.begin(), last = problem.examples.end();
    const auto earlier = [](const Example& x, const Example& y) { return x.row < y.row; };
    constexpr std::size_t worth_merging = 16;  // merging takes memory
    if (taken.size() == 2 && size > worth_merging)
      std::inplace_merge(first, first + static_cast<std::ptrdiff_t>(second), last, earlier);
    else
      std::sort(first, last, earlier);
    result.list.push_back(std::move(problem));
  };
  std::vector<bool> is_present;
  for (const auto& each : members) is_present.push_back(!each.empty());
  with_scheme(task.multiclass, [&](auto scheme) {
    const std::vector<Sides> machines = scheme.machines(is_present);
    result.list.reserve(machines.size());
    for (const Sides& sides : machines) add(sides);
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
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = weight_of(data, i);
    const double over = data.weight_over.empty() ? weight : data.weight_over[i];
    if (!(weight > 0 || over > 0)) continue;
    problem.examples.push_back({static_cast<Index>(i), data.y[i], task.price() * weight});
    if (!data.weight_over.empty()) problem.examples.back().cost_over = task.price() * over;
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
      problem.examples.push_back({static_cast<Index>(i), 1, task.price() * weight});
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

void require_feasible(const Subproblems& problems) {
  // The nu asked for may be the largest feasible value, rounded.
  constexpr double rounding = 1e-12;
  const Subproblem* tightest = nullptr;
  double largest = 1;
  for (const Subproblem& problem : problems.list) {
    if (!nu_of_sides(problem)) continue;
    const double feasible = SideWeights(problem).largest_nu();
    if (feasible >= largest) continue;
    largest = feasible;
    tightest = &problem;
  }
  if (tightest == nullptr || *nu_of_sides(*tightest) <= largest * (1 + rounding)) return;
  const SideWeights sides(*tightest);
  const auto name = [&](int number) {
    return number == Sides::nobody ? std::string("the rest")
                                   : "'" + problems.classes[static_cast<std::size_t>(number)] + "'";
  };
  // Down to six digits, so that what is advised is feasible.
  const double advised = std::floor(largest * 1e6) / 1e6;
  throw Error(Fault::usage,
              "nu = " + shortest(*nu_of_sides(*tightest)) + " is infeasible for " +
                  amount(sides.weight[1], sides.rows[1]) + " of class " + name(tightest->positive) +
                  " and " + amount(sides.weight[0], sides.rows[0]) + " of " +
                  (tightest->negative == Sides::nobody ? "" : "class ") + name(tightest->negative),
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
  result.list.reserve(problems.list.size());
  for (const Subproblem& problem : problems.list) {
    Subproblem& rest = result.list.emplace_back();
    static_cast<Sides&>(rest) = problem;
    rest.loss = problem.loss;
    rest.bias = problem.bias;
    bool has_positive = false, has_negative = false;
    rest.examples.reserve(problem.examples.size());
    for (const Example& example : problem.examples) {
      if (left_out[example.row]) continue;
      rest.examples.push_back(example);
      (example.target > 0 ? has_positive : has_negative) = true;
    }
    const bool trainable = problems.outcome == Outcome::classes ? has_positive && has_negative
                                                                : !rest.examples.empty();
    if (!trainable) result.list.pop_back();
  }
  require_feasible(result);
  return result;
}

}  // namespace maxmargin
