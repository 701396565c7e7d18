#include "maxmargin/train/folds/retrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/problem/matrix/cached_rows.hpp"

namespace maxmargin {
namespace {

Formulated formulated(const Prepared& prepared, const Subproblem& problem, const Kernel& kernel,
                      const Threads& threads) {
  return formulate(prepared.examples, problem.examples, problem.loss, kernel, problem.bias,
                   threads);
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
  set_width(problem, machine);
  return machine;
}

/// How a machine has ended; that of a nu machine depends on its width.
Ended ended(const Subproblem& problem, const Certified& certified) {
  const bool has_width = std::holds_alternative<NuMargin>(problem.loss);
  return has_width ? without_support(problem, certified).ended : certified.solution.ended;
}

// What kernel values of a restart may take: this part of what cached rows may.
constexpr std::size_t restart_bytes = 4;

void sum_up(Retrained& retrained) {
  for (std::size_t k = 0; k < retrained.machines.size(); ++k) {
    const Certified& certified = retrained.machines[k].certified;
    retrained.ended = worse(retrained.ended, ended(retrained.problems.list[k], certified));
    retrained.iterations += certified.solution.iterations;
  }
}

/// The problem of a machine of all rows, whose kernel rows are kept within some bytes.
Formulated keeping_rows(const Prepared& prepared, std::size_t number, Retrainable& can,
                        const Kernel& kernel, std::size_t bytes, const Threads& threads) {
  Formulated all = number == 0
                       ? std::move(can.first)
                       : formulated(prepared, prepared.problems.list[number], kernel, threads);
  all.qp.K = cache_rows(std::move(all.qp.K), bytes);
  return all;
}

/// A machine that was trained, and what is needed to train it again without some rows.
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
                                      run.stop(), run.memory);
  TrainedMachine result;
  result.solver = name_of(solver);
  result.reason = "starts from the machine of more rows";
  result.certified =
      more.restart.solve(rest.qp, more.from, solver, run.threads, run.observer(), run.judged());
  Solution& solution = result.certified.solution;
  solution.ended = run.ended(solution.ended);
  result.coefficients = rest.coefficients(solution.a);
  if (problem.bias == Bias::penalised) solution.lambda = {sum_of_coefficients(rest.qp, solution.a)};
  return result;
}

/// What is left to be trained, without any machine yet.
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
                       const TrainOptions& options, const Threads& threads,
                       const Observer& observer) {
  Retrained result = remaining(prepared, left_out);
  result.machines = train_machines(prepared.examples, result.problems, options, threads, observer);
  sum_up(result);
  return result;
}

std::optional<Retrainable> retrainable(const Prepared& prepared, const TrainOptions& options,
                                       std::size_t folds, const Threads& threads) {
  constexpr std::size_t least_folds = 3;
  if (is_one_problem(prepared.problems.multiclass) || options.l1) return std::nullopt;
  if (folds < least_folds || options.approximate || prepared.problems.list.empty() ||
      prepared.examples.functions.count() > 0)
    return std::nullopt;
  const Subproblem& first = prepared.problems.list.front();
  const auto is_infinite = [](const Example& example) { return std::isinf(example.cost); };
  if (std::ranges::any_of(first.examples, is_infinite)) return std::nullopt;
  Retrainable result{formulated(prepared, first, options.kernel, threads)};
  const bool is_smo =
      options.settings ? std::holds_alternative<Smo>(*options.settings)
      : options.solver != "auto"
          ? options.solver == Smo::name
          : std::holds_alternative<Smo>(
                chosen_solver(result.first.qp, options.stop, options, memory_for(options)).solver);
  if (!is_smo) return std::nullopt;
  return result;
}

std::vector<Retrained> retrain_each(const Prepared& prepared, Retrainable can,
                                    std::span<const std::vector<bool>> left_out,
                                    const TrainOptions& options, const Threads& threads,
                                    const Observer& observer) {
  std::vector<Retrained> results;
  for (const std::vector<bool>& rows : left_out) results.push_back(untrained(prepared, rows));
  const std::size_t steps = left_out.size() + 1;
  Audience audience(observer, prepared.problems.list.size() * steps);
  for_each_machine(
      prepared.examples, prepared.problems, options, threads,
      [&](std::size_t k, std::size_t memory, const Threads& crew) {
        const Subproblem& problem = prepared.problems.list[k];
        const std::size_t kept = memory / 4, beside = memory - kept;
        const Formulated all = keeping_rows(prepared, k, can, options.kernel, kept, crew);
        const TrainedMachine whole =
            train_one(prepared.examples, all, {options, beside, crew, audience, k * steps});
        const Restart restart(all.qp, whole.certified, kept / restart_bytes, crew);
        for (std::size_t fold = 0; fold < results.size(); ++fold) {
          Retrained& result = results[fold];
          const auto at = std::ranges::lower_bound(result.number, k) - result.number.begin();
          const auto position = static_cast<std::size_t>(at);
          if (position < result.number.size() && result.number[position] == k) {
            const bool is_same =
                result.problems.list[position].examples.size() == problem.examples.size();
            TrainedMachine& machine = result.machines[position];
            machine = is_same ? whole
                              : retrained({all, restart, whole.certified}, problem, left_out[fold],
                                          {options, beside, crew, audience, k * steps + fold + 1});
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
                     const Threads& threads, const Observer& observer)
    : prepared_(prepared),
      all_(prepared.problems.list.size()),
      whole_(prepared.problems.list.size()),
      restart_(prepared.problems.list.size()) {
  Audience audience(observer, whole_.size());
  double examples = 0;
  for (const Subproblem& problem : prepared.problems.list)
    examples += static_cast<double>(problem.examples.size());
  for_each_machine(
      prepared.examples, prepared.problems, options, threads,
      [&](std::size_t k, std::size_t memory, const Threads& crew) {
        const double share =
            static_cast<double>(prepared.problems.list[k].examples.size()) / examples;
        const auto kept = static_cast<std::size_t>(share * static_cast<double>(kept_part(options)));
        all_[k] = keeping_rows(prepared, k, can, options.kernel, kept, crew);
        const std::size_t beside = memory_beside_kept(memory, options, crew, threads);
        whole_[k] = train_one(prepared.examples, all_[k], {options, beside, crew, audience, k},
                              prepared.problems.list[k].start);
        restart_[k] = Restart(all_[k].qp, whole_[k].certified, kept / restart_bytes, crew);
      });
}

Retrained Retrainer::without(const std::vector<bool>& left_out, const TrainOptions& options,
                             const Threads& threads, const Observer& observer,
                             const Retrained* from) const {
  Retrained result = untrained(prepared_, left_out);
  Audience audience(observer, result.number.size());
  for_each_machine(
      prepared_.examples, result.problems, options, threads,
      [&](std::size_t k, std::size_t memory, const Threads& crew) {
        const std::size_t number = result.number[k];
        const Subproblem& problem = prepared_.problems.list[number];
        const TrainedMachine* machine = &whole_[number];
        std::size_t examples = problem.examples.size();
        if (from != nullptr) {
          const auto at = std::ranges::lower_bound(from->number, number) - from->number.begin();
          machine = &from->machines[static_cast<std::size_t>(at)];
          examples = from->problems.list[static_cast<std::size_t>(at)].examples.size();
        }
        const bool is_same = result.problems.list[k].examples.size() == examples;
        result.machines[k] =
            is_same
                ? *machine
                : retrained({all_[number], restart_[number], machine->certified}, problem, left_out,
                            {options, memory_beside_kept(memory, options, crew, threads), crew,
                             audience, k});
        audience.finished(k);
      });
  sum_up(result);
  return result;
}

std::vector<Retrained> Retrainer::without_each(std::span<const std::vector<bool>> left_out,
                                               const TrainOptions& options, const Threads& threads,
                                               const Observer& observer,
                                               const Retrained* from) const {
  std::vector<Retrained> results(left_out.size());
  Audience audience(observer, left_out.size());
  TrainOptions limited = options;
  const auto retrain = [&](std::size_t fold, const TrainOptions& shared, const Threads& crew) {
    TrainOptions own = shared;
    own.stop = audience.rest_of(options.stop);
    const Observer watching = [&](const Progress& progress) {
      return audience.tell(fold, progress);
    };
    results[fold] = without(left_out[fold], own, crew, watching, from);
    results[fold].ended = audience.ended(results[fold].ended);
    audience.finished(fold);
  };
  if (all_.size() > 1 || !side_by_side(left_out.size(), threads)) {
    for (std::size_t fold = 0; fold < left_out.size(); ++fold) retrain(fold, limited, threads);
    return results;
  }
  limited.memory_bytes = memory_for(options) / static_cast<std::size_t>(threads.count());
  const Threads alone(1);
  threads.run(left_out.size(), [&](std::size_t fold) { retrain(fold, limited, alone); });
  return results;
}

std::vector<double> Retrainer::values(const Retrained& retrained, std::size_t k) const {
  const std::size_t number = retrained.number.at(k);
  return values_at_examples(all_[number], prepared_.problems.list[number],
                            retrained.machines[k].certified);
}

}  // namespace maxmargin
