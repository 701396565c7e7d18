#include "maxmargin/train/machines/start.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/problem/feasible.hpp"

namespace maxmargin {
namespace {

[[noreturn]] void refuse(const std::string& why, const std::string& mend) {
  throw Error(Fault::usage, "the model cannot be the start: " + why, mend);
}

const std::string* option_of(const Model& model, std::string_view name) {
  for (const auto& [key, value] : model.options)
    if (key == name) return &value;
  return nullptr;
}

bool takes_start(const Solver& solver) {
  return visit_list(
      [](const auto& chosen) {
        return requires { chosen.takes_start; };
      },
      solver);
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  std::string text;
  for (std::size_t k = 0; k < std::min(names.size(), most); ++k)
    text += (k > 0 ? ", " : "") + names[k];
  return names.size() > most ? text + ", ..." : text;
}

/// For each support vector the row of the data that it is, the first of equal ones.
std::vector<Index> rows_of_support(const Model& model, const TrainOptions& options,
                                   const Prepared& prepared, const Threads& threads) {
  const Examples& data = prepared.examples;
  const bool same = !model.data_hash.empty() && model.data_hash == prepared.data_hash;
  if (is_given(options.kernel)) {
    if (!same)
      refuse("a precomputed kernel's rows are known by their numbers, and the data is another",
             "start from a model of the same matrix");
    return {model.support_row.begin(), model.support_row.end()};
  }
  if (!same && prepared.numbers.none()) return find_rows(model.support, *data.x, threads);
  if (!same) return find_rows(prepared.numbers.applied(model.support), *data.x, threads);
  std::vector<Index> rows;
  for (const std::uint64_t row : model.support_row) rows.push_back(data.first_equal[row]);
  return rows;
}

}  // namespace

bool keeps_dual_variables(const Model& model) {
  return option_of(model, "approximate") == nullptr && option_of(model, "out-of-core") == nullptr &&
         option_of(model, "regulariser") == nullptr;
}

void require_start_fits(const Model& model, const Subproblems& problems,
                        const TrainOptions& options) {
  if (!keeps_dual_variables(model))
    refuse("it kept basis functions or weights, and no dual variables",
           "start from a model trained in memory, without --approximate and --regulariser");
  if (is_one_problem(model.multiclass))
    refuse("it has all classes in one problem, " + std::string(full_name(model.multiclass)),
           "choose another --multiclass");
  if (options.approximate && options.true_gap > 0)
    refuse("a rank that is raised step by step has steps of its own to start from",
           "leave --true-gap out, or --start");
  const std::string task = task_name(model);
  if (model.outcome != problems.outcome || (!task.empty() && task != name_of(options.task)))
    refuse("its task is " + (!task.empty() ? task : std::string(to_string(model.outcome))) +
               ", not " + std::string(name_of(options.task)),
           "start from a model of the same task");
  if (model.classes != problems.classes)
    refuse("its classes are " + listed(model.classes) + ", those of the data " +
               listed(problems.classes),
           "start from a model of the same classes");
  if (model.machines.size() > 1 && model.multiclass != problems.multiclass)
    refuse("it has machines of the scheme " + std::string(full_name(model.multiclass)),
           "choose the same --multiclass");
  if (name_of(model.kernel) != name_of(options.kernel))
    refuse("its kernel is " + std::string(name_of(model.kernel)) + ", not " +
               std::string(name_of(options.kernel)),
           "start from a model of the same kernel; its parameters may differ");
  const bool scaled = !model.scaling.factor.empty();
  if (scaled != options.scaling.has_value() || (scaled && model.scaling.kind != *options.scaling))
    refuse(
        scaled ? "its features are scaled (" + std::string(to_string(model.scaling.kind)) + ")"
               : "its features are not scaled",
        scaled ? "add --scale=" + std::string(to_string(model.scaling.kind)) : "leave --scale out");
}

void take_start(const Model& model, const TrainOptions& options, Prepared& prepared,
                const Threads& threads) {
  const std::vector<Index> row = rows_of_support(model, options, prepared, threads);
  const auto is_found = [](Index each) { return each != no_such_row; };
  if (std::none_of(row.begin(), row.end(), is_found))
    refuse("none of its " + std::to_string(row.size()) + " support vectors is a row of the data",
           "start from a model of much the same data, read and scaled in the same way");
  const auto before = model.task ? cost_of(*model.task) : std::nullopt;
  const auto now = cost_of(options.task);
  const double factor = before && now ? *now / *before : 1;
  SubproblemList& list = prepared.problems.list;
  const bool is_nu = std::holds_alternative<NuMargin>(list.front().loss);
  std::map<std::pair<int, int>, const Machine*> of_sides;
  for (const Machine& machine : model.machines)
    of_sides.emplace(std::pair(machine.positive, machine.negative), &machine);
  for (std::size_t number = 0; number < list.size(); ++number) {
    const Sides sides = list.sides(number);
    const auto found = of_sides.find({sides.positive, sides.negative});
    if (found == of_sides.end()) continue;
    const Machine& machine = *found->second;
    // The margin that the coefficients of a nu machine were divided by.
    const double scale = is_nu && machine.width > 0 ? machine.width : factor;
    std::vector<std::pair<Index, double>> start;
    for (std::size_t k = 0; k < machine.support.size(); ++k)
      if (is_found(row[machine.support[k]]))
        start.emplace_back(row[machine.support[k]], scale * machine.coefficient[k]);
    if (!start.empty()) list.set_start(number, std::move(start));
  }
}

Choice starting(Choice choice, const DualQp& qp, const TrainOptions& options, std::size_t memory) {
  const Stop stop = visit_list([](const auto& chosen) { return chosen.stop; }, choice.solver);
  const std::string refusing(name_of(choice.solver));
  if (!takes_start(choice.solver)) {
    const std::vector<Solver> fitting = fitting_solvers(qp, stop, memory);
    const auto other = std::ranges::find_if(fitting, takes_start);
    if (options.solver != "auto" || options.settings || other == fitting.end())
      refuse("the solver '" + refusing + "' always starts from 0",
             other == fitting.end() ? "leave --start out"
                                    : "choose --solver " + std::string(name_of(*other)));
    choice.solver = *other;
    choice.reason = "starts from given variables, which " + refusing + " cannot";
  }
  return choice;
}

namespace {

/// Distributes the coefficient of each point over its variables of that sign, up to their bounds.
std::vector<double> within_bounds(const Formulated& formulated,
                                  std::span<const std::pair<Index, double>> start) {
  const DualQp& qp = formulated.qp;
  std::map<Index, Index> point;
  for (std::size_t p = 0; p < formulated.point_rows.size(); ++p)
    point.emplace(formulated.point_rows[p], static_cast<Index>(p));
  std::vector<double> positive(qp.K->size(), 0.0), negative(qp.K->size(), 0.0);
  for (const auto& [row, coefficient] : start)
    if (const auto at = point.find(row); at != point.end())
      (coefficient > 0 ? positive : negative)[at->second] += coefficient;
  std::vector<double> a(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    double& same = (block.sign > 0 ? positive : negative)[qp.row[v]];
    double& opposite = (block.sign > 0 ? negative : positive)[qp.row[v]];
    double wish = block.sign * same;
    if (block.lower < 0) wish += block.sign * opposite;
    a[v] = std::clamp(wish, block.lower, block.upper);
    same -= block.sign * std::max(a[v], 0.0);
    if (block.lower < 0) opposite -= block.sign * std::min(a[v], 0.0);
    // An entropy has no slope at its bounds.
    if (block.entropy == Entropy::own)
      a[v] = std::clamp(
          a[v],
          block.lower < 0 ? (1 - 1e-6) * block.lower : 1e-6 * std::min(block.scale, block.upper),
          (1 - 1e-6) * block.upper);
    else if (block.entropy != Entropy::none)
      a[v] = std::max(a[v], 1e-6 * std::min(1.0, block.upper));
    if (block.entropy == Entropy::logistic) a[v] = std::min(a[v], (1 - 1e-6) * block.upper);
  }
  return a;
}

}  // namespace

std::optional<Known> started(const Formulated& formulated,
                             std::span<const std::pair<Index, double>> start, const Solver& solver,
                             const Threads& threads) {
  const DualQp& qp = formulated.qp;
  std::vector<double> a = within_bounds(formulated, start);
  const bool any_point = std::holds_alternative<PrimalDual>(solver);
  if (!any_point) {
    auto feasible = nearest_feasible(qp, a);
    if (!feasible) return std::nullopt;
    a = *std::move(feasible);
  }
  std::vector<double> f(qp.K->size(), 0.0);  // of no variable at all
  Known known =
      known_at(qp, std::move(a), {std::vector<double>(qp.size(), 0.0), std::move(f)}, threads);
  // Where nothing has changed, there is nothing to do.
  if (!any_point)
    known.lambda = evaluate(qp, known.a, known.f, std::vector<double>(qp.A.size(), 0.0)).lambda;
  return known;
}

}  // namespace maxmargin
