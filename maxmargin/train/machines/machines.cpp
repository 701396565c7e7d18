#include "maxmargin/train/machines/machines.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "maxmargin/certify/certify_known.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/problem/evaluate.hpp"
#include "maxmargin/solver/linear_program/linear_program.hpp"
#include "maxmargin/train/machines/approximation.hpp"
#include "maxmargin/train/machines/small_machines.hpp"
#include "maxmargin/train/machines/start.hpp"
#include "maxmargin/train/machines/together.hpp"

namespace maxmargin {

namespace {

Solver with_seed(Solver solver, std::uint64_t seed) {
  visit_list(
      [&](auto& chosen) {
        if constexpr (requires { chosen.seed; }) chosen.seed = seed;
      },
      solver);
  return solver;
}

}  // namespace

Choice chosen_solver(const DualQp& qp, const Stop& stop, const TrainOptions& options,
                     const Context& context) {
  const std::size_t memory = memory_for(options, context).bytes;
  if (options.solver == "auto" && !options.settings)
    return choose_solver(qp, stop, memory, context.costs);
  const Solver solver = options.settings ? with_settings(*options.settings, qp, stop, memory)
                                         : named_solver(options.solver, qp, stop, memory);
  return {with_seed(solver, options.seed), "as asked for"};
}

double sum_of_coefficients(const DualQp& qp, std::span<const double> a) {
  double sum = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.block[v].sign * a[v];
  return sum;
}

namespace {

/// The linear-programming machine, whose coefficients are no dual variables.
TrainedMachine train_expansion(const Formulated& formulated, const MachineRun& run) {
  const TrainOptions& options = run.options;
  if (options.approximate || options.start || options.solver != "auto" || options.settings)
    throw Error(Fault::usage, "the regulariser l1 has a solver of its own",
                "leave --approximate, --start and --solver out");
  const LinearProgram program{run.stop(), run.memory().bytes};
  ExpansionSolved solved = solve(formulated.qp, program, run.context());
  TrainedMachine part;
  part.solver = LinearProgram::name;
  part.reason = "sum |beta| as regulariser: a linear program";
  part.certified.certificate = solved.certified.certificate;
  part.certified.seconds = solved.certified.seconds;
  Solution& solution = part.certified.solution;
  solution.ended = run.ended(solved.ended);
  solution.iterations = solved.iterations;
  const ExpansionPoint& expansion = solved.certified.expansion;
  double sum = 0;
  for (std::size_t p = 0; p < expansion.beta.size(); ++p) {
    sum += expansion.beta[p];
    if (expansion.beta[p] != 0)
      part.coefficients.emplace_back(formulated.point_rows[p], expansion.beta[p]);
  }
  std::sort(part.coefficients.begin(), part.coefficients.end());
  solution.lambda = expansion.lambda;
  if (formulated.is_biased) solution.lambda = {sum};
  return part;
}

/// With a basis of its own that grows.
TrainedMachine train_improving(const Formulated& formulated, const MachineRun& run) {
  const TrainOptions& options = run.options;
  Improve how{options.true_gap, *options.approximate, run.stop(), run.memory().bytes};
  how.first.seed = options.seed;
  const ChooseRound choose = [&](const DualQp& qp, const Stop& stop, std::size_t bytes) {
    Choice choice = chosen_solver(qp, stop, options, run.given.with_memory(MemoryBudget{bytes}));
    if (options.chosen) options.chosen(choice);
    return choice;
  };
  Improved improved = improve(formulated.qp, how, choose, run.context());
  TrainedMachine part;
  part.solver = std::move(improved.solver);
  part.reason = std::move(improved.reason);
  part.certified = std::move(improved.certified);
  part.true_dual = improved.true_dual;
  part.rank = improved.basis.size();
  part.residual = improved.residual;
  part.improvement = Improvement{std::move(improved.rounds), improved.limit};
  double sum = 0;
  for (std::size_t j = 0; j < improved.basis.size(); ++j) {
    sum += improved.coefficients[j];
    if (improved.coefficients[j] != 0)
      part.coefficients.emplace_back(formulated.point_rows[improved.basis[j]],
                                     improved.coefficients[j]);
  }
  std::sort(part.coefficients.begin(), part.coefficients.end());
  auto& lambda = part.certified.solution.lambda;
  lambda = formulated.unpenalised(std::move(lambda), part.certified.solution.a);
  // A penalised bias is part of every basis function k(x_j, .) + 1.
  if (formulated.is_biased) lambda[0] = sum;
  part.certified.solution.ended = run.ended(part.certified.solution.ended);
  return part;
}

}  // namespace

void state_as_given(const Formulated& formulated, const Stop& stop, Certified& certified) {
  Solution& solution = certified.solution;
  if (formulated.basis) {
    DualQp qp = formulated.qp;
    const std::size_t first = qp.A.size() - formulated.given_rows.size();
    for (std::size_t r = 0; r < formulated.given_rows.size(); ++r) {
      qp.A[first + r] = formulated.given_rows[r];
      qp.d[first + r] = 0;
    }
    formulated.basis->translate(solution.lambda);
    Known known{solution.a, std::move(certified.f), std::move(certified.error)};
    Certified given = certify_known(qp, std::move(solution), std::move(known));
    given.seconds += certified.seconds;
    given.obstacle = std::move(certified.obstacle);
    certified = std::move(given);
    const Certificate& found = certified.certificate;
    const bool is_enough =
        found.kkt <= stop.kkt && (!found.mercer || found.relative_gap <= stop.relative_gap);
    if (solution.ended == Ended::converged && !is_enough) {
      solution.ended = Ended::stalled;
      certified.obstacle = "the coefficients of the functions are rounded when they are stored";
    }
  }
  solution.lambda = formulated.with_bias(std::move(solution.lambda), solution.a);
}

namespace {

/// Where the solver that was chosen automatically has stalled, another one may go on.
void go_on_after_stall(const DualQp& qp, const MachineRun& run, Choice& choice, Certified& found) {
  const TrainOptions& options = run.options;
  if (options.solver != "auto" || options.settings || found.solution.ended != Ended::stalled)
    return;
  const std::size_t memory = memory_for(options, run.given).bytes;
  std::optional<Choice> other =
      choose_after_stall(qp, run.stop(), memory, choice.solver, run.given.costs);
  if (!other) return;
  Certified again = solve_from(nullptr, qp, other->solver, run.context(), run.judged());
  const bool is_better =
      again.solution.ended == Ended::converged || again.certificate.gap < found.certificate.gap;
  if (!is_better) return;
  again.solution.iterations += found.solution.iterations;
  again.seconds += found.seconds;
  choice.solver = other->solver;
  choice.reason = other->reason;
  found = std::move(again);
}

/// true_dual, or no bound where all has to end before that is known.
double true_dual_in_time(const Examples& data, const Formulated& formulated, const MachineRun& run,
                         std::span<const double> a) {
  const TrainOptions& options = run.options;
  const Threads hurried = run.given.threads.interrupted_by([&run, &options] {
    run.audience.look(run.number);
    return run.audience.is_over(options.stop);
  });
  try {
    return true_dual(data, options.kernel, formulated, a, hurried);
  } catch (const Threads::Interrupted&) {
    return -infinity;
  }
}

/// By one of the list of solvers, from the coefficients of rows where there are such.
TrainedMachine train_dual(const Examples& data, const Formulated& formulated, const MachineRun& run,
                          std::span<const std::pair<Index, double>> start) {
  const TrainOptions& options = run.options;
  const Threads& threads = run.given.threads;
  Choice choice = chosen_solver(formulated.qp, run.stop(), options, run.given);
  std::optional<Known> known;
  if (!start.empty()) {
    choice = starting(std::move(choice), formulated.qp, options, run.memory().bytes);
    choice.reason += "; from the model given to start from";
    known = started(formulated, start, choice.solver, threads);
  }
  if (options.chosen) options.chosen(choice);
  TrainedMachine part;
  part.certified = solve_from(known ? &*known : nullptr, formulated.qp, choice.solver,
                              run.context(), run.judged());
  go_on_after_stall(formulated.qp, run, choice, part.certified);
  part.reason = choice.reason;
  part.solver = name_of(choice.solver);
  part.certified.solution.ended = run.ended(part.certified.solution.ended);
  const std::vector<double>& a = part.certified.solution.a;
  part.coefficients = data.approximation
                          ? basis_coefficients(*data.approximation, formulated, a, threads)
                          : formulated.coefficients(a);
  if (options.true_bound) part.true_dual = true_dual_in_time(data, formulated, run, a);
  state_as_given(formulated, run.stop(), part.certified);
  return part;
}

}  // namespace

TrainedMachine train_one(const Examples& data, const Formulated& formulated, const MachineRun& run,
                         std::span<const std::pair<Index, double>> start) {
  const bool improving = run.options.approximate && run.options.true_gap > 0;
  TrainedMachine part = improving        ? train_improving(formulated, run)
                        : run.options.l1 ? train_expansion(formulated, run)
                                         : train_dual(data, formulated, run, start);
  run.audience.finished(run.number);
  return part;
}

bool side_by_side(std::size_t machines, const Threads& threads) {
  const auto crew = static_cast<std::size_t>(threads.count());
  return crew > 1 && machines >= 2 * crew;
}

namespace {

/// The numbers of machines, those of more examples first, by counting.
std::vector<Index> largest_first(const SubproblemList& list) {
  std::size_t most = 0;
  for (std::size_t k = 0; k < list.size(); ++k) most = std::max(most, list.examples(k));
  std::vector<std::size_t> place(most + 2, 0);  // of the first one with most - n examples
  for (std::size_t k = 0; k < list.size(); ++k) ++place[most - list.examples(k) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  std::vector<Index> order(list.size());
  for (std::size_t k = 0; k < list.size(); ++k)
    order[place[most - list.examples(k)]++] = static_cast<Index>(k);
  return order;
}

}  // namespace

void for_each_machine(const Examples& data, const Subproblems& problems,
                      const TrainOptions& options, const Context& context,
                      const std::function<void(std::size_t, const Context&)>& work) {
  const std::size_t machines = problems.list.size();
  const Threads& threads = context.threads;
  const MemoryBudget all = memory_for(options, context);
  MemoryBudget memory = all;
  if (data.K) memory = memory.without(data.K->bytes() + all.shared_values().bytes);
  if (data.approximation) memory = memory.without(data.approximation->low.Z->bytes());
  const auto crew = static_cast<std::size_t>(threads.count());
  if (!side_by_side(machines, threads)) {
    const Context each = context.with_memory(memory);
    for (std::size_t k = 0; k < machines; ++k) work(k, each);
    return;
  }
  const std::vector<Index> order = largest_first(problems.list);
  const Threads alone(1);
  const Context each = context.on(alone).with_memory(memory.divided(crew));
  threads.run(machines, [&](std::size_t task) { work(order[task], each); });
}

namespace {

// After a signal, up to so many untrained machines are certified as they are, if they do not have
// more than so many values of rows together.
constexpr std::size_t few_machines = SubproblemList::most_kept;
constexpr std::size_t few_values = std::size_t{1} << 22;

}  // namespace

bool takes_long_to_certify(const Examples& data, const SubproblemList& list) {
  if (list.size() < 2) return false;
  if (list.size() > few_machines) return true;
  const Rows rows = *data.x;
  double examples = 0;
  for (std::size_t k = 0; k < list.size(); ++k) examples += static_cast<double>(list.examples(k));
  const double values = static_cast<double>(rows.stored()) / static_cast<double>(rows.count);
  return examples * values > static_cast<double>(few_values);
}

namespace {

bool has_width(const Loss& loss) {
  return std::holds_alternative<NuMargin>(loss) || std::holds_alternative<NuTube>(loss);
}

/// What f = 0 loses on the examples of a machine, rounded up.
double loss_of_nothing(const Subproblem& problem) {
  double sum = 0;
  for (const Example& example : problem.examples)
    sum = rounded_up(
        sum +
        visit_list([&](const auto& loss) { return loss.value(example.target, 0, example.cost); },
                   problem.loss));
  return sum;
}

/// Losses are not negative, so 0 is below the optimum of each; not of those whose thresholds are
/// part of the loss.
bool is_bounded_by_nothing(const Loss& loss) {
  return !std::holds_alternative<NuMargin>(loss) && !std::holds_alternative<OwnLoss>(loss);
}

Untrained untrained(const Subproblems& problems, const Audience& audience) {
  Untrained result;
  result.ended = audience.ended(Ended::time_limit);
  result.loss.assign(problems.classes.size(), 0);
  for (std::size_t k = 0; k < result.loss.size(); ++k) {
    const Subproblem members = problems.list.of_class(static_cast<int>(k));
    if (members.examples.empty()) continue;
    result.loss[k] = is_bounded_by_nothing(members.loss) ? loss_of_nothing(members) : infinity;
  }
  return result;
}

}  // namespace

TrainedMachine nothing(const Subproblem& problem, const Audience& audience) {
  TrainedMachine part;
  part.certified.solution.ended = audience.ended(Ended::time_limit);
  // The thresholds of nu machines: see set_width.
  part.certified.solution.lambda.assign(has_width(problem.loss) ? 2 : 1, 0.0);
  if (!is_bounded_by_nothing(problem.loss)) return part;
  Certificate& certificate = part.certified.certificate;
  certificate.primal = loss_of_nothing(problem);
  certificate.dual = 0;
  certificate.gap = certificate.primal;
  certificate.relative_gap = relative_gap(certificate.primal, certificate.dual);
  return part;
}

namespace {

/// The functions that solutions must not mind are looked at before anything is trained.
void check_functions(const Examples& data, const SubproblemList& list, Audience& audience) {
  if (data.functions.count() == 0) return;
  for (std::size_t k = 0; k < list.size() && audience.answer() == Control::proceed; ++k) {
    audience.look(k);
    const Subproblem problem = list[k];
    check_functions(data.functions, problem.examples, problem.loss, problem.bias);
  }
}

}  // namespace

TrainedMachines train_machines(const Examples& data, const Subproblems& problems,
                               const TrainOptions& options, const Context& context) {
  if (is_one_problem(problems.multiclass))
    return {problems, train_together(data, problems, options, context)};
  Audience audience(context, problems.list.size());
  check_functions(data, problems.list, audience);
  TrainedMachines result{problems, TrainedList(problems.list.size())};
  TrainedList& trained = result.machines;
  const SmallMachines small(data, problems, options, context);
  const bool are_many = takes_long_to_certify(data, problems.list);
  for_each_machine(data, problems, options, context, [&](std::size_t k, const Context& given) {
    if (are_many && audience.is_over(options.stop)) return;
    if (are_many) audience.look(k);
    const Subproblem problem = problems.list[k];
    const MachineRun run{options, given, audience, k};
    if (auto found = small.train(problem, run))
      trained[k] = *std::move(found);
    else
      trained[k] = train_one(
          data,
          formulate(data, problem.examples, problem.loss, options.kernel, problem.bias, given), run,
          problem.start);
    trained[k].certified.f = {};
    trained[k].certified.solution.a = {};
  });
  std::vector<std::size_t> numbers = trained.keep_those_there();
  if (numbers.size() == problems.list.size()) return result;
  if (numbers.empty()) {
    numbers = {0};
    trained.resize(1);
    trained[0] = nothing(problems.list.front(), audience);
    std::vector<double>& lambda = trained[0].certified.solution.lambda;
    lambda.resize(lambda.size() + data.functions.count());
  }
  result.problems.list = problems.list.only(numbers);
  result.problems.untrained = untrained(problems, audience);
  return result;
}

void set_width(const Subproblem& problem, Machine& machine) {
  const bool margin = std::holds_alternative<NuMargin>(problem.loss);
  if (!has_width(problem.loss)) return;
  if (problem.bias == Bias::unpenalised) {
    const double first = machine.lambda[0], second = machine.lambda[1];
    machine.lambda.erase(machine.lambda.begin());
    machine.lambda[0] = (first + second) / 2;
    machine.width = (margin ? second - first : first - second) / 2;
  } else {
    machine.width = margin ? -machine.lambda.back() : machine.lambda.back();
    machine.lambda.pop_back();
  }
  if (!margin) return;
  // No margin within the rounding of f, and the dual does not prove one: the machine is that of an
  // infinite cost.
  if (!(machine.width > machine.certificate.rounding) && !(machine.certificate.dual > 0) &&
      machine.certificate.mercer &&
      (machine.ended == Ended::converged || machine.ended == Ended::stalled))
    machine.ended = Ended::unbounded;
  if (!(machine.width > std::numeric_limits<double>::min())) return;
  for (double& value : machine.lambda) value /= machine.width;
  for (double& coefficient : machine.coefficient) coefficient /= machine.width;
}

void assemble(const Examples& data, const Subproblems& problems, const TrainedList& parts,
              Model& model) {
  constexpr Index none = 0xffffffffu;
  std::vector<Index> position(data.x->count(), none);
  for (std::size_t k = 0; k < parts.size(); ++k)
    for (const auto& [row, coefficient] : parts[k].coefficients) position[row] = 0;
  for (std::size_t i = 0; i < position.size(); ++i)
    if (position[i] != none) {
      position[i] = static_cast<Index>(model.support_row.size());
      model.support_row.push_back(i);
    }
  model.machines.reserve(model.machines.size() + parts.size());
  model.untrained = problems.untrained;
  const bool have_width = has_width(problems.list.front().loss);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Machine machine;
    static_cast<Sides&>(machine) = problems.list.sides(k);
    machine.support.reserve(parts[k].coefficients.size());
    machine.coefficient.reserve(parts[k].coefficients.size());
    for (const auto& [row, coefficient] : parts[k].coefficients) {
      machine.support.push_back(position[row]);
      machine.coefficient.push_back(coefficient);
    }
    machine.lambda = parts[k].certified.solution.lambda;
    machine.ended = parts[k].certified.solution.ended;
    machine.iterations = parts[k].certified.solution.iterations;
    machine.certificate = parts[k].certified.certificate;
    // Bounds that the coefficients in the file prove.
    machine.certificate.best_primal = machine.certificate.primal;
    machine.certificate.best_dual = machine.certificate.dual;
    if (have_width) set_width(problems.list[k], machine);
    model.machines.push_back(std::move(machine));
  }
}

}  // namespace maxmargin
