#include "maxmargin/train/formulate/functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/linalg/small.hpp"
#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/train/formulate/formulate.hpp"

namespace maxmargin {
namespace {

// A function closer than this to a combination of others, relative to its size, would have a
// coefficient with hardly a digit.
constexpr double least_independence = 1e-10;
// Terms below this share of the largest are left out of messages.
constexpr double least_told = 1e-6;
constexpr int halvings_of_nu = 40;

[[noreturn]] void refuse_dependence(std::span<const std::string> names,
                                    const Dependence& dependence,
                                    const std::vector<std::vector<double>>& columns, bool biased) {
  const std::size_t first = biased ? 1 : 0;
  const std::string& name = names[dependence.column - first];
  const auto size = [&](std::size_t column) {
    double sum = 0;
    for (const double value : columns[column]) sum += value * value;
    return std::sqrt(sum);
  };
  const double whole = size(dependence.column);
  if (whole == 0)
    throw Error(Fault::data, "the function '" + name + "' is zero in every row", "leave it out");
  std::string others;
  for (std::size_t j = 0; j < dependence.column; ++j) {
    if (std::abs(dependence.weight[j]) * size(j) <= least_told * whole) continue;
    if (!others.empty()) others += " and ";
    others += j < first ? std::string("the bias") : "'" + names[j - first] + "'";
  }
  throw Error(Fault::data,
              "the function '" + name + "' depends linearly on " +
                  (others.empty() ? "the others" : others) + " in the training rows",
              "leave one of them out");
}

std::string counted(std::size_t count, const std::string& name) {
  return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
}

}  // namespace

bool FunctionValues::agree(std::size_t row, std::size_t other) const {
  return std::ranges::equal(of_row(row), of_row(other));
}

void require_rows_for_functions(std::size_t functions, std::size_t rows, bool has_bias) {
  if (functions + (has_bias ? 1 : 0) > rows)
    throw Error(Fault::data,
                counted(functions, "function") + (has_bias ? " and the bias" : "") +
                    " cannot be told apart in " + counted(rows, "row"),
                "give more rows or fewer functions");
}

Orthonormal independent_functions(std::span<const std::string> names,
                                  std::vector<std::vector<double>> columns, bool has_bias) {
  // Values may be so large that their squares are not: the scale of a function is no matter.
  std::vector<double> unit(columns.size(), 1.0);
  for (std::size_t c = has_bias ? 1 : 0; c < columns.size(); ++c) {
    double largest = 0;
    for (const double value : columns[c]) largest = std::max(largest, std::abs(value));
    if (largest > 0) unit[c] = std::ldexp(1.0, std::ilogb(largest));
    for (double& value : columns[c]) value /= unit[c];
  }
  Orthonormal found = orthonormal(columns, least_independence);
  if (found.dependence) refuse_dependence(names, *found.dependence, columns, has_bias);
  for (auto& weights : found.recipe)
    for (std::size_t j = 0; j < weights.size(); ++j) weights[j] /= unit[j];
  return found;
}

FunctionBasis::FunctionBasis(const FunctionValues& functions, std::span<const Example> examples,
                             Bias bias)
    : has_bias(bias == Bias::unpenalised) {
  const std::size_t first = has_bias ? 1 : 0, rows = examples.size();
  require_rows_for_functions(functions.count(), rows, has_bias);
  std::vector<std::vector<double>> columns;
  if (has_bias) columns.emplace_back(rows, 1.0);
  for (std::size_t r = 0; r < functions.count(); ++r) {
    auto& column = columns.emplace_back();
    for (const Example& example : examples) column.push_back(functions.of_row(example.row)[r]);
  }
  given.assign(columns.begin() + static_cast<std::ptrdiff_t>(first), columns.end());
  Orthonormal found = independent_functions(functions.names, std::move(columns), has_bias);
  const double scale = std::sqrt(static_cast<double>(rows));
  for (auto& direction : found.directions)
    for (double& value : direction) value *= scale;
  for (auto& weights : found.recipe)
    for (double& weight : weights) weight *= scale;
  values.assign(
      std::make_move_iterator(found.directions.begin() + static_cast<std::ptrdiff_t>(first)),
      std::make_move_iterator(found.directions.end()));
  recipe = std::move(found.recipe);
}

void FunctionBasis::translate(std::vector<double>& lambda) const {
  const std::size_t first = has_bias ? 1 : 0, thresholds = lambda.size() - values.size();
  std::vector<double> coefficient(recipe.size(), 0.0);
  for (std::size_t c = first; c < recipe.size(); ++c)
    for (std::size_t j = 0; j <= c; ++j)
      coefficient[j] += lambda[thresholds + c - first] * recipe[c][j];
  for (std::size_t r = 0; has_bias && r < thresholds; ++r) lambda[r] += coefficient[0];
  std::copy(coefficient.begin() + static_cast<std::ptrdiff_t>(first), coefficient.end(),
            lambda.begin() + static_cast<std::ptrdiff_t>(thresholds));
}

void FunctionBasis::add_rows(std::span<const Index> example_of_variable, double sum,
                             DualQp& qp) const {
  const std::size_t first = has_bias ? 1 : 0;
  for (std::size_t c = 0; c < values.size(); ++c) {
    auto& row = qp.A.emplace_back(qp.size());
    for (std::size_t v = 0; v < qp.size(); ++v)
      row[v] = qp.block[v].sign * values[c][example_of_variable[v]];
    // The phi themselves have sums of zero.
    qp.d.push_back(has_bias ? recipe[c + first][0] * sum : 0);
  }
}

std::vector<std::vector<double>> FunctionBasis::given_rows(
    std::span<const Index> example_of_variable, const DualQp& qp) const {
  std::vector<std::vector<double>> rows;
  for (const std::vector<double>& phi : given) {
    auto& row = rows.emplace_back(qp.size());
    for (std::size_t v = 0; v < qp.size(); ++v)
      row[v] = qp.block[v].sign * phi[example_of_variable[v]];
  }
  return rows;
}

namespace {

/// The rows and bounds of a nu machine, with a variable for each example.
DualQp constraints_of(const FunctionBasis& basis, std::span<const Example> examples, double nu,
                      bool two_sides) {
  DualQp qp;
  std::vector<Index> all;
  double total = 0;
  for (const Example& example : examples) {
    all.push_back(static_cast<Index>(all.size()));
    qp.block.push_back({two_sides ? example.target : 1, 0, 0, example.cost, 0});
    total += example.cost;
  }
  for (const double sign : {1.0, -1.0}) {
    if (sign < 0 && !two_sides) break;
    auto& row = qp.A.emplace_back(qp.size(), 0.0);
    for (std::size_t v = 0; v < qp.size(); ++v)
      if (qp.block[v].sign == sign) row[v] = sign;
    qp.d.push_back(sign * nu * total / (two_sides ? 2 : 1));
  }
  basis.add_rows(all, two_sides ? 0 : nu * total, qp);
  return qp;
}

bool is_feasible(const DualQp& qp) {
  std::vector<double> middle;
  for (const Block& block : qp.block) middle.push_back(block.upper / 2);
  return nearest_feasible(qp, middle).has_value();
}

}  // namespace

void check_functions(const FunctionValues& functions, std::span<const Example> examples,
                     const Loss& loss, Bias bias) {
  if (functions.count() == 0) return;
  const bool has_width =
      std::holds_alternative<NuMargin>(loss) || std::holds_alternative<NuTube>(loss);
  if (has_width && bias != Bias::unpenalised)
    throw Error(Fault::usage, "functions beside a nu machine need a free bias",
                "leave --bias out, or the functions");
  const FunctionBasis basis(functions, examples, bias);
  const auto* margin = std::get_if<NuMargin>(&loss);
  const auto* novelty = std::get_if<Novelty>(&loss);
  if (margin == nullptr && novelty == nullptr) return;
  const double nu = margin != nullptr ? margin->nu : novelty->nu;
  const auto feasible = [&](double value) {
    return is_feasible(constraints_of(basis, examples, value, margin != nullptr));
  };
  if (feasible(nu)) return;
  double low = 0, high = nu;
  for (int k = 0; k < halvings_of_nu; ++k) {
    const double middle = low + (high - low) / 2;
    (feasible(middle) ? low : high) = middle;
  }
  // Down to six digits, so that what is advised is feasible.
  const double advised = std::floor(low * 1e6) / 1e6;
  throw Error(Fault::usage, "nu = " + shortest(nu) + " is infeasible with these functions",
              advised > 0 ? "the largest feasible nu is about " + shortest(advised)
              : margin != nullptr
                  ? "no nu is: they separate the classes by any margin at no cost; leave some out"
                  : "no nu is: some combination of them is positive in every row; leave some out");
}

}  // namespace maxmargin
