#include "maxmargin/train/retrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/kept_rows.hpp"
#include "maxmargin/solver/solve_from.hpp"

namespace maxmargin {
namespace {

Formulated formulated(const Prepared& prepared, const Subproblem& problem, const Kernel& kernel,
                      const Threads& threads) {
  return formulate(prepared.examples, problem.examples, problem.loss, kernel, problem.bias,
                   threads);
}

/// The derivative of the objective and the rows' prices by each variable, at a solution.
std::vector<double> slopes_at(const DualQp& qp, const Certified& solved) {
  std::vector<double> slope(qp.size());
  for (std::size_t v = 0; v < qp.size(); ++v) {
    const Block& block = qp.block[v];
    slope[v] =
        block.sign * solved.f[qp.row[v]] + block.linear + block.curvature * solved.solution.a[v];
    for (std::size_t r = 0; r < qp.A.size(); ++r)
      slope[v] += solved.solution.lambda[r] * qp.A[r][v];
  }
  return slope;
}

/// Where a machine without some rows starts: the variables of one with them as far as the bounds
/// let them, made feasible with the least change. Those leave their bounds that stood there for the
/// least reason: a little of each of all would take a solver a visit to every one of them. Nothing
/// where there is no such point.
std::optional<Known> start_near(const DualQp& qp, const Certified& with, const Threads& threads) {
  std::vector<double> a = with.solution.a;
  if (a.size() != qp.size() || with.f.size() != qp.K->size()) return std::nullopt;
  for (std::size_t v = 0; v < a.size(); ++v)
    a[v] = std::clamp(a[v], qp.block[v].lower, qp.block[v].upper);
  std::optional<std::vector<double>> feasible;
  if (with.solution.lambda.size() == qp.A.size()) {
    const std::vector<double> slope = slopes_at(qp, with);
    double steepest = 0;
    for (const double each : slope) steepest = std::max(steepest, std::abs(each));
    feasible = gently_feasible(qp, a, slope, 1e-4 * steepest, steepest);
  }
  if (!feasible) feasible = nearest_feasible(qp, a);
  if (!feasible) return std::nullopt;
  const Known known{with.solution.a, with.f, with.certificate.rounding};
  return known_at(qp, std::move(*feasible), known, threads);
}

/// The numbers of machines that are left among all.
std::vector<std::size_t> numbers_of(const Subproblems& some, const Subproblems& all) {
  std::vector<std::size_t> numbers;
  std::size_t next = 0;
  for (const Subproblem& problem : some.list) {
    while (all.list[next].positive != problem.positive ||
           all.list[next].negative != problem.negative)
      ++next;
    numbers.push_back(next++);
  }
  return numbers;
}

/// A machine of a model, but for its support vectors.
Machine without_support(const Subproblem& problem, const Certified& certified) {
  Machine machine;
  machine.lambda = certified.solution.lambda;
  machine.ended = certified.solution.ended;
  machine.certificate = certified.certificate;
  set_width(problem.loss, machine);
  return machine;
}

/// Of the memory, for kernel rows that are kept from one fold to the next.
std::size_t kept_part(const TrainOptions& options) { return memory_for(options) / 4; }

/// What is left of the memory of one of the machines that are trained at a time.
std::size_t memory_beside_kept(std::size_t memory, const TrainOptions& options, const Threads& crew,
                               const Threads& all) {
  const auto at_a_time = static_cast<std::size_t>(all.count() / crew.count());
  return memory - std::min(memory, kept_part(options) / at_a_time);
}

void sum_up(Retrained& retrained) {
  for (std::size_t k = 0; k < retrained.machines.size(); ++k) {
    const Certified& certified = retrained.machines[k].certified;
    retrained.ended =
        worse(retrained.ended, without_support(retrained.problems.list[k], certified).ended);
    retrained.iterations += certified.solution.iterations;
  }
}

}  // namespace

Retrained train_afresh(const Prepared& prepared, const std::vector<bool>& left_out,
                       const TrainOptions& options, const Threads& threads,
                       const Observer& observer) {
  Retrained result;
  result.problems = without(prepared.problems, left_out);
  result.number = numbers_of(result.problems, prepared.problems);
  result.machines = train_machines(prepared.examples, result.problems, options, threads, observer);
  sum_up(result);
  return result;
}

bool Retrainer::takes(const Prepared& prepared, const TrainOptions& options, std::size_t folds) {
  constexpr std::size_t least_folds = 3;
  if (folds < least_folds || options.approximate || prepared.problems.list.empty() ||
      prepared.examples.functions.count() > 0)
    return false;
  const Subproblem& first = prepared.problems.list.front();
  const auto is_infinite = [](const Example& example) { return std::isinf(example.cost); };
  if (std::ranges::any_of(first.examples, is_infinite)) return false;
  if (options.settings) return std::holds_alternative<Smo>(*options.settings);
  if (options.solver != "auto") return options.solver == Smo::name;
  const Formulated whole = formulated(prepared, first, options.kernel, Threads(1));
  return std::holds_alternative<Smo>(
      chosen_solver(whole.qp, options.stop, options, memory_for(options)).solver);
}

Retrainer::Retrainer(const Prepared& prepared, const TrainOptions& options, const Threads& threads,
                     const Observer& observer)
    : prepared_(prepared),
      all_(prepared.problems.list.size()),
      whole_(prepared.problems.list.size()) {
  Audience audience(observer, whole_.size());
  double examples = 0;
  for (const Subproblem& problem : prepared.problems.list)
    examples += static_cast<double>(problem.examples.size());
  for_each_machine(prepared.examples, prepared.problems, options, threads,
                   [&](std::size_t k, std::size_t memory, const Threads& crew) {
                     const Subproblem& problem = prepared.problems.list[k];
                     all_[k] = formulated(prepared, problem, options.kernel, crew);
                     const double share = static_cast<double>(problem.examples.size()) / examples;
                     all_[k].qp.K = keep_rows(
                         std::move(all_[k].qp.K),
                         static_cast<std::size_t>(share * static_cast<double>(kept_part(options))));
                     whole_[k] = train_one(prepared.examples, all_[k], options,
                                           memory_beside_kept(memory, options, crew, threads), k,
                                           audience, crew);
                   });
}

TrainedMachine Retrainer::retrain(std::size_t number, const Certified& from,
                                  const std::vector<bool>& left_out, const TrainOptions& options,
                                  std::size_t memory, const Threads& threads, Audience& audience,
                                  std::size_t place) const {
  const Subproblem& problem = prepared_.problems.list[number];
  const Formulated rest =
      maxmargin::without(all_[number], problem.examples, problem.loss, problem.bias, left_out);
  const DualQp& qp = rest.qp;
  const Solver solver = with_settings(options.settings ? *options.settings : Solver(Smo{}), qp,
                                      audience.rest_of(options.stop), memory);
  const std::optional<Known> start = start_near(qp, from, threads);

  TrainedMachine result;
  result.solver = name_of(solver);
  result.reason = "starts from the machine of more rows";
  result.certified = solve_from(
      start ? &*start : nullptr, qp, solver, threads,
      [&](const Progress& progress) { return audience.tell(place, progress); },
      options.certified ? Judged::apart : Judged::by_solver);
  Solution& solution = result.certified.solution;
  solution.ended = audience.ended(solution.ended);
  result.coefficients = rest.coefficients(solution.a);
  if (problem.bias == Bias::penalised) solution.lambda = {sum_of_coefficients(qp, solution.a)};
  return result;
}

Retrained Retrainer::without(const std::vector<bool>& left_out, const TrainOptions& options,
                             const Threads& threads, const Observer& observer,
                             const Retrained* from) const {
  Retrained result;
  result.problems = maxmargin::without(prepared_.problems, left_out);
  result.number = numbers_of(result.problems, prepared_.problems);
  result.machines.resize(result.number.size());
  const auto place = [&](std::size_t number) {
    return from == nullptr
               ? number
               : static_cast<std::size_t>(std::ranges::lower_bound(from->number, number) -
                                          from->number.begin());
  };
  const std::vector<TrainedMachine>& machines = from == nullptr ? whole_ : from->machines;
  const Subproblems& problems = from == nullptr ? prepared_.problems : from->problems;
  Audience audience(observer, result.number.size());
  for_each_machine(prepared_.examples, result.problems, options, threads,
                   [&](std::size_t k, std::size_t memory, const Threads& crew) {
                     const std::size_t number = result.number[k], before = place(number);
                     const bool is_same = result.problems.list[k].examples.size() ==
                                          problems.list[before].examples.size();
                     result.machines[k] =
                         is_same ? machines[before]
                                 : retrain(number, machines[before].certified, left_out, options,
                                           memory_beside_kept(memory, options, crew, threads), crew,
                                           audience, k);
                     audience.finished(k);
                   });
  sum_up(result);
  return result;
}

std::vector<double> Retrainer::values(const Retrained& retrained, std::size_t k) const {
  const std::size_t number = retrained.number.at(k);
  const Subproblem& problem = prepared_.problems.list[number];
  const Formulated& all = all_[number];
  const Certified& certified = retrained.machines[k].certified;
  const Machine machine = without_support(problem, certified);
  const bool divided = std::holds_alternative<NuMargin>(problem.loss) &&
                       machine.width > std::numeric_limits<double>::min();
  // K + 1 has the penalised bias in f already.
  const double bias = problem.bias == Bias::penalised ? 0 : machine.bias();
  const std::size_t blocks = all.shares.size() / problem.examples.size();
  std::vector<double> values;
  values.reserve(problem.examples.size());
  for (std::size_t i = 0; i < problem.examples.size(); ++i) {
    const double f = certified.f[all.qp.row[all.shares[i * blocks].variable]];
    values.push_back((divided ? f / machine.width : f) + bias);
  }
  return values;
}

}  // namespace maxmargin
