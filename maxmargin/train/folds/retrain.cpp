#include "maxmargin/train/folds/retrain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "maxmargin/problem/feasible.hpp"
#include "maxmargin/problem/matrix/cached_rows.hpp"
#include "maxmargin/solver/solve_from.hpp"

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

// A part is solved to this share of the tolerance, lest rounding alone leave work for the whole.
constexpr double near_share = 0.9;
// What its kernel values may take: this part of what kept rows may.
constexpr std::size_t near_bytes = 4;

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

/// The problem of a machine of all rows, whose kernel rows are kept within some bytes.
Formulated keeping_rows(const Prepared& prepared, std::size_t number, Retrainable& can,
                        const Kernel& kernel, std::size_t bytes, const Threads& threads) {
  Formulated all = number == 0
                       ? std::move(can.first)
                       : formulated(prepared, prepared.problems.list[number], kernel, threads);
  all.qp.K = cache_rows(std::move(all.qp.K), bytes);
  return all;
}

/// A machine of fewer rows, from one of more.
TrainedMachine retrained(const Formulated& all, const NearPart& part, const Subproblem& problem,
                         const Certified& from, const std::vector<bool>& left_out,
                         const TrainOptions& options, std::size_t memory, std::size_t place,
                         Audience& audience, const Threads& threads) {
  const Formulated rest = without(all, problem.examples, problem.loss, problem.bias, left_out);
  const DualQp& qp = rest.qp;
  const Solver solver = with_settings(options.settings ? *options.settings : Solver(Smo{}), qp,
                                      audience.rest_of(options.stop), memory);
  std::optional<Known> start;
  std::size_t steps = 0;
  if (auto feasible = start_near(qp, from)) {
    const Known known{from.solution.a, from.f, from.error, from.solution.lambda};
    if (part.pays()) {
      NearPart::Solved near =
          part.solve(qp, *std::move(feasible), known, near_share * options.stop.kkt, threads);
      start = std::move(near.at);
      steps = near.steps;
    } else {
      start = known_at(qp, *std::move(feasible), known, threads);
    }
  }

  TrainedMachine result;
  result.solver = name_of(solver);
  result.reason = "starts from the machine of more rows";
  result.certified = solve_from(
      start ? &*start : nullptr, qp, solver, threads,
      [&](const Progress& progress) { return audience.tell(place, progress); },
      options.certified ? Judged::apart : Judged::by_solver);
  Solution& solution = result.certified.solution;
  solution.iterations += steps;
  solution.ended = audience.ended(solution.ended);
  result.coefficients = rest.coefficients(solution.a);
  if (problem.bias == Bias::penalised) solution.lambda = {sum_of_coefficients(qp, solution.a)};
  return result;
}

Retrained untrained(const Prepared& prepared, const std::vector<bool>& left_out) {
  Retrained result;
  result.problems = without(prepared.problems, left_out);
  result.number = numbers_of(result.problems, prepared.problems);
  result.machines.resize(result.number.size());
  return result;
}

}  // namespace

std::optional<std::vector<double>> start_near(const DualQp& qp, const Certified& with) {
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
  return feasible ? feasible : nearest_feasible(qp, a);
}

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
  Retrained result = untrained(prepared, left_out);
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
            train_one(prepared.examples, all, options, beside, k * steps, audience, crew);
        const NearPart part(all.qp, whole.certified, kept / near_bytes, crew);
        for (std::size_t fold = 0; fold < results.size(); ++fold) {
          Retrained& result = results[fold];
          const auto at = std::ranges::lower_bound(result.number, k) - result.number.begin();
          const auto place = static_cast<std::size_t>(at);
          if (place < result.number.size() && result.number[place] == k) {
            const bool is_same =
                result.problems.list[place].examples.size() == problem.examples.size();
            TrainedMachine& machine = result.machines[place];
            machine = is_same ? whole
                              : retrained(all, part, problem, whole.certified, left_out[fold],
                                          options, beside, k * steps + fold + 1, audience, crew);
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
      near_(prepared.problems.list.size()) {
  Audience audience(observer, whole_.size());
  double examples = 0;
  for (const Subproblem& problem : prepared.problems.list)
    examples += static_cast<double>(problem.examples.size());
  for_each_machine(prepared.examples, prepared.problems, options, threads,
                   [&](std::size_t k, std::size_t memory, const Threads& crew) {
                     const double share =
                         static_cast<double>(prepared.problems.list[k].examples.size()) / examples;
                     const auto kept =
                         static_cast<std::size_t>(share * static_cast<double>(kept_part(options)));
                     all_[k] = keeping_rows(prepared, k, can, options.kernel, kept, crew);
                     whole_[k] = train_one(prepared.examples, all_[k], options,
                                           memory_beside_kept(memory, options, crew, threads), k,
                                           audience, crew, prepared.problems.list[k].start);
                     near_[k] = NearPart(all_[k].qp, whole_[k].certified, kept / near_bytes, crew);
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
            is_same ? *machine
                    : retrained(all_[number], near_[number], problem, machine->certified, left_out,
                                options, memory_beside_kept(memory, options, crew, threads), k,
                                audience, crew);
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
