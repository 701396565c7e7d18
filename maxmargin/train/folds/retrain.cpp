#include "maxmargin/train/folds/retrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/problem/matrix/cache/cached_rows.hpp"
#include "maxmargin/problem/matrix/capabilities.hpp"

namespace maxmargin {
namespace {

Formulated formulated(const Prepared& prepared, const Subproblem& problem, const Kernel& kernel,
                      const Context& context) {
  return formulate(prepared.examples, problem.examples, problem.loss, kernel, problem.bias,
                   context);
}

/// The numbers of machines that are left among all.
std::vector<std::size_t> numbers_of(const Subproblems& some, const Subproblems& all) {
  std::vector<std::size_t> numbers;
  std::size_t next = 0;
  for (std::size_t k = 0; k < some.list.size(); ++k) {
    while (all.list.sides(next) != some.list.sides(k)) ++next;
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
  set_width(problem, machine);
  return machine;
}

/// How the machines have ended; of a nu machine that depends on its width.
void sum_up(Retrained& retrained) {
  if (!retrained.problems.untrained.none()) retrained.ended = retrained.problems.untrained.ended;
  const bool has_width = !retrained.machines.empty() &&
                         std::holds_alternative<NuMargin>(retrained.problems.list.front().loss);
  for (std::size_t k = 0; k < retrained.machines.size(); ++k) {
    const Certified& certified = retrained.machines[k].certified;
    retrained.ended = worse(retrained.ended,
                            has_width ? without_support(retrained.problems.list[k], certified).ended
                                      : certified.solution.ended);
    retrained.iterations += certified.solution.iterations;
  }
}

/// The problem of a machine of all rows, whose kernel rows are cached within `room`.
Formulated caching_rows(const Prepared& prepared, std::size_t number, Retrainable& can,
                        const Kernel& kernel, MemoryBudget room, const Context& context) {
  Formulated all = number == 0
                       ? std::move(can.first)
                       : formulated(prepared, prepared.problems.list[number], kernel, context);
  all.qp.K = cache_rows(std::move(all.qp.K), room.bytes, context.costs);
  if (all.qp.K->can().stored != nullptr) context.note(Way::cached_rows);
  return all;
}

/// A trained machine, prepared to be trained again without some rows.
struct FromMoreRows {
  const Formulated& all;
  const Restart& restart;
  const Certified& from;
};

TrainedMachine retrained(const FromMoreRows& more, const Subproblem& problem,
                         const std::vector<bool>& left_out, const MachineRun& run) {
  const Formulated rest = without(more.all, problem.examples, problem.loss, problem.bias, left_out);
  const TrainOptions& options = run.options;
  const Solver solver = with_settings(options.settings ? *options.settings : Solver(Smo{}), rest.qp,
                                      run.stop(), run.memory().bytes);
  TrainedMachine result;
  result.solver = name_of(solver);
  result.reason = "starts from the machine of more rows";
  result.certified = more.restart.solve(rest.qp, more.from, solver, run.context(), run.judged());
  run.given.note(Way::fewer_rows);
  Solution& solution = result.certified.solution;
  solution.ended = run.ended(solution.ended);
  result.coefficients = rest.coefficients(solution.a);
  if (problem.bias == Bias::penalised) solution.lambda = {sum_of_coefficients(rest.qp, solution.a)};
  return result;
}

/// Where the machine k of all is among those that are left.
std::optional<std::size_t> position_of(const Retrained& result, std::size_t k) {
  const auto at = std::ranges::lower_bound(result.number, k);
  if (at == result.number.end() || *at != k) return std::nullopt;
  return static_cast<std::size_t>(at - result.number.begin());
}

/// The problems without these rows, not yet solved.
Retrained remaining(const Prepared& prepared, const std::vector<bool>& left_out) {
  Retrained result;
  result.problems = without(prepared.problems, left_out);
  result.number = numbers_of(result.problems, prepared.problems);
  return result;
}

/// The same with room for the machines.
Retrained untrained(const Prepared& prepared, const std::vector<bool>& left_out) {
  Retrained result = remaining(prepared, left_out);
  result.machines.resize(result.number.size());
  return result;
}

}  // namespace

std::vector<double> values_at_examples(const Formulated& all, const Subproblem& problem,
                                       const Certified& certified) {
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

Retrained train_afresh(const Prepared& prepared, const std::vector<bool>& left_out,
                       const TrainOptions& options, const Context& context) {
  Retrained result = remaining(prepared, left_out);
  TrainedMachines made = train_machines(prepared.examples, result.problems, options, context);
  result.machines = std::move(made.machines);
  if (!made.problems.untrained.none()) {
    result.problems = std::move(made.problems);
    result.number = numbers_of(result.problems, prepared.problems);
  }
  sum_up(result);
  return result;
}

std::optional<Retrainable> retrainable(const Prepared& prepared, const TrainOptions& options,
                                       std::size_t folds, const Context& context) {
  constexpr std::size_t least_folds = 3;
  if (is_one_problem(prepared.problems.multiclass) || options.l1) return std::nullopt;
  if (folds < least_folds || options.approximate || prepared.problems.list.empty() ||
      prepared.problems.list.size() > most_retrained || prepared.examples.functions.count() > 0)
    return std::nullopt;
  const Subproblem& first = prepared.problems.list.front();
  const auto is_infinite = [](const Example& example) { return std::isinf(example.cost); };
  if (std::ranges::any_of(first.examples, is_infinite)) return std::nullopt;
  Retrainable result{formulated(prepared, first, options.kernel, context)};
  const bool is_smo =
      options.settings ? std::holds_alternative<Smo>(*options.settings)
      : options.solver != "auto"
          ? options.solver == Smo::name
          : std::holds_alternative<Smo>(
                chosen_solver(result.first.qp, options.stop, options, context).solver);
  if (!is_smo) return std::nullopt;
  return result;
}

std::vector<Retrained> retrain_each(const Prepared& prepared, Retrainable can,
                                    std::span<const std::vector<bool>> left_out,
                                    const TrainOptions& options, const Context& context) {
  std::vector<Retrained> results;
  for (const std::vector<bool>& rows : left_out) results.push_back(untrained(prepared, rows));
  const std::size_t steps = left_out.size() + 1;
  Audience audience(context, prepared.problems.list.size() * steps);
  const bool takes_long = takes_long_to_certify(prepared.examples, prepared.problems.list);
  for_each_machine(
      prepared.examples, prepared.problems, options, context,
      [&](std::size_t k, const Context& given) {
        const Subproblem& problem = prepared.problems.list[k];
        if (takes_long && audience.is_over(options.stop)) {
          for (Retrained& result : results)
            if (const auto position = position_of(result, k))
              result.machines[*position] = nothing(problem, audience);
          return;
        }
        const MemoryBudget memory = memory_for(options, given), room = memory.rows_of_folds();
        const Context beside = given.with_memory(memory.without(room.bytes));
        const Formulated all = caching_rows(prepared, k, can, options.kernel, room, given);
        const TrainedMachine whole =
            train_one(prepared.examples, all, {options, beside, audience, k * steps});
        const Restart restart(all.qp, whole.certified, room.values_of_restart().bytes, given);
        for (std::size_t fold = 0; fold < results.size(); ++fold) {
          Retrained& result = results[fold];
          if (const auto position = position_of(result, k)) {
            const bool is_same =
                result.problems.list.examples(*position) == problem.examples.size();
            TrainedMachine& machine = result.machines[*position];
            machine = is_same ? whole
                              : retrained({all, restart, whole.certified}, problem, left_out[fold],
                                          {options, beside, audience, k * steps + fold + 1});
            machine.certified.f = {};
            machine.certified.solution.a = {};
          }
          audience.finished(k * steps + fold + 1);
        }
      });
  for (Retrained& result : results) sum_up(result);
  return results;
}

Retrainer::Retrainer(const Prepared& prepared, Retrainable can, const TrainOptions& options,
                     const Context& context)
    : prepared_(prepared),
      all_(prepared.problems.list.size()),
      whole_(prepared.problems.list.size()),
      restart_(prepared.problems.list.size()) {
  Audience audience(context, whole_.size());
  double examples = 0;
  for (std::size_t k = 0; k < whole_.size(); ++k)
    examples += static_cast<double>(prepared.problems.list.examples(k));
  for_each_machine(
      prepared.examples, prepared.problems, options, context,
      [&](std::size_t k, const Context& given) {
        const double share = static_cast<double>(prepared.problems.list.examples(k)) / examples;
        const auto all_rooms =
            static_cast<double>(memory_for(options, context).rows_of_folds().bytes);
        const MemoryBudget room{static_cast<std::size_t>(share * all_rooms)};
        all_[k] = caching_rows(prepared, k, can, options.kernel, room, given);
        const Context beside = beside_rows_of_folds(given, options, context);
        whole_[k] = train_one(prepared.examples, all_[k], {options, beside, audience, k},
                              prepared.problems.list[k].start);
        restart_[k] =
            Restart(all_[k].qp, whole_[k].certified, room.values_of_restart().bytes, given);
      });
}

Retrained Retrainer::without(const std::vector<bool>& left_out, const TrainOptions& options,
                             const Context& context, const Retrained* from) const {
  Retrained result = untrained(prepared_, left_out);
  Audience audience(context, result.number.size());
  for_each_machine(prepared_.examples, result.problems, options, context,
                   [&](std::size_t k, const Context& given) {
                     const std::size_t number = result.number[k];
                     const Subproblem& problem = prepared_.problems.list[number];
                     const TrainedMachine* machine = &whole_[number];
                     std::size_t examples = problem.examples.size();
                     if (from != nullptr) {
                       const auto at =
                           std::ranges::lower_bound(from->number, number) - from->number.begin();
                       machine = &from->machines[static_cast<std::size_t>(at)];
                       examples = from->problems.list.examples(static_cast<std::size_t>(at));
                     }
                     const bool is_same = result.problems.list.examples(k) == examples;
                     const Context beside = beside_rows_of_folds(given, options, context);
                     result.machines[k] =
                         is_same ? *machine
                                 : retrained({all_[number], restart_[number], machine->certified},
                                             problem, left_out, {options, beside, audience, k});
                     audience.finished(k);
                   });
  sum_up(result);
  return result;
}

std::vector<Retrained> Retrainer::without_each(std::span<const std::vector<bool>> left_out,
                                               const TrainOptions& options, const Context& context,
                                               const Retrained* from) const {
  std::vector<Retrained> results(left_out.size());
  Audience audience(context, left_out.size());
  const auto retrain = [&](std::size_t fold, const Context& shared) {
    Context own =
        shared.watched_by([&](const Progress& progress) { return audience.tell(fold, progress); });
    own.seconds = audience.rest_of(options.stop).seconds;
    results[fold] = without(left_out[fold], options, own, from);
    results[fold].ended = audience.ended(results[fold].ended);
    audience.finished(fold);
  };
  const Threads& threads = context.threads;
  if (all_.size() > 1 || !side_by_side(left_out.size(), threads)) {
    for (std::size_t fold = 0; fold < left_out.size(); ++fold) retrain(fold, context);
    return results;
  }
  const Threads alone(1);
  const auto crew = static_cast<std::size_t>(threads.count());
  const Context each = context.on(alone).with_memory(memory_for(options, context).divided(crew));
  threads.run(left_out.size(), [&](std::size_t fold) { retrain(fold, each); });
  return results;
}

std::vector<double> Retrainer::values(const Retrained& retrained, std::size_t k) const {
  const std::size_t number = retrained.number.at(k);
  return values_at_examples(all_[number], prepared_.problems.list[number],
                            retrained.machines[k].certified);
}

}  // namespace maxmargin
