#include "maxmargin/train/train.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/kernel/mercer.hpp"
#include "maxmargin/train/approximation.hpp"
#include "maxmargin/train/calibrate.hpp"

namespace maxmargin {
namespace {

/// What came out of one machine's training.
struct Part {
  Certified certified;
  std::vector<std::pair<Index, double>> coefficients;
  std::string solver, reason;
  double true_dual = -infinity;
};

/// Tells one observer of several machines, trained one after another or side by side.
class Audience {
 public:
  Audience(const Observer& observer, std::size_t machines)
      : observer_(observer), shares_(machines, 0.0) {}

  Control tell(std::size_t machine, Progress progress) {
    const std::lock_guard lock(mutex_);
    shares_[machine] = progress.done;
    progress.seconds = clock_.seconds();
    progress.done =
        std::accumulate(shares_.begin(), shares_.end(), 0.0) / static_cast<double>(shares_.size());
    if (answer_ == Control::proceed && observer_) answer_ = observer_(progress);
    return answer_;
  }
  void finished(std::size_t machine) {
    const std::lock_guard lock(mutex_);
    shares_[machine] = 1;
  }
  Control answer() const {
    const std::lock_guard lock(mutex_);
    return answer_;
  }
  double seconds() const { return clock_.seconds(); }

 private:
  const Observer& observer_;
  mutable std::mutex mutex_;
  std::vector<double> shares_;
  Control answer_ = Control::proceed;
  Stopwatch clock_;
};

Choice chosen_solver(const DualQp& qp, const Stop& stop, const TrainOptions& options,
                     std::size_t memory) {
  if (options.settings) return {with_settings(*options.settings, qp, stop, memory), "as asked for"};
  if (options.solver == "auto") return choose_solver(qp, stop, memory);
  return {named_solver(options.solver, qp, stop, memory), "as asked for"};
}

/// The bias of a machine that penalises it.
double sum_of_coefficients(const DualQp& qp, std::span<const double> a) {
  double sum = 0;
  for (std::size_t v = 0; v < qp.size(); ++v) sum += qp.block[v].sign * a[v];
  return sum;
}

Part train_one(const Examples& data, const Subproblem& problem, const TrainOptions& options,
               std::size_t memory, std::size_t number, Audience& audience, const Threads& threads) {
  const Formulated formulated =
      formulate(data, problem.examples, problem.loss, options.kernel, problem.bias);
  Stop stop = options.stop;
  // The limit is one for all machines; what is left of it may be nothing.
  stop.seconds = std::max(0.0, stop.seconds - audience.seconds());
  if (audience.answer() != Control::proceed) stop.seconds = 0;
  const Choice choice = chosen_solver(formulated.qp, stop, options, memory);
  if (options.chosen) options.chosen(choice);
  Part part;
  part.reason = choice.reason;
  part.solver = name_of(choice.solver);
  part.certified = solve(formulated.qp, choice.solver, threads,
                         [&](const Progress& progress) { return audience.tell(number, progress); });
  if (audience.answer() == Control::cancel && part.certified.solution.ended == Ended::time_limit)
    part.certified.solution.ended = Ended::cancelled;
  const std::vector<double>& a = part.certified.solution.a;
  part.coefficients = data.approximation
                          ? basis_coefficients(*data.approximation, formulated, a, threads)
                          : formulated.coefficients(a);
  if (options.true_bound) part.true_dual = true_dual(data, options.kernel, formulated, a, threads);
  if (problem.bias == Bias::penalised)
    part.certified.solution.lambda = {sum_of_coefficients(formulated.qp, a)};
  audience.finished(number);
  return part;
}

std::size_t memory_for(const TrainOptions& options) {
  return options.memory_bytes > 0 ? options.memory_bytes : available_memory_bytes() / 2;
}
/// Of the memory, for kernel values that several machines need.
std::size_t shared_part(const TrainOptions& options) { return memory_for(options) / 4; }

/// Many machines run side by side, one thread each; few share all threads one after another. The
/// result has the same bits either way.
bool side_by_side(std::size_t machines, const Threads& threads) {
  const auto crew = static_cast<std::size_t>(threads.count());
  return crew > 1 && machines >= 2 * crew;
}

std::vector<Part> train_all(const Examples& data, const Subproblems& problems,
                            const TrainOptions& options, const Threads& threads,
                            const Observer& observer) {
  const std::size_t machines = problems.list.size();
  std::size_t memory = memory_for(options);
  if (data.K) memory -= std::min(memory, data.K->bytes() + shared_part(options));
  Audience audience(observer, machines);
  std::vector<Part> parts(machines);
  const auto crew = static_cast<std::size_t>(threads.count());
  if (!side_by_side(machines, threads)) {
    for (std::size_t k = 0; k < machines; ++k)
      parts[k] = train_one(data, problems.list[k], options, memory, k, audience, threads);
    return parts;
  }
  std::vector<std::size_t> largest_first(machines);
  std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](std::size_t x, std::size_t y) {
    return problems.list[x].examples.size() > problems.list[y].examples.size();
  });
  const Threads alone(1);
  threads.run(machines, [&](std::size_t task) {
    const std::size_t k = largest_first[task];
    parts[k] = train_one(data, problems.list[k], options, memory / crew, k, audience, alone);
  });
  return parts;
}

void add_to(Certificate& sum, const Certificate& part) {
  sum.primal += part.primal;
  sum.dual += part.dual;
  sum.gap += part.gap;
  sum.best_primal += part.best_primal;
  sum.best_dual += part.best_dual;
  sum.relative_gap = std::max(sum.relative_gap, part.relative_gap);
  sum.kkt = std::max(sum.kkt, part.kkt);
  sum.equality_residual = std::max(sum.equality_residual, part.equality_residual);
  sum.bound_residual = std::max(sum.bound_residual, part.bound_residual);
  sum.rounding = std::max(sum.rounding, part.rounding);
  sum.mercer = sum.mercer && part.mercer;
}

std::vector<std::pair<std::string, std::string>> options_of(const TrainOptions& options) {
  std::vector<std::pair<std::string, std::string>> list;
  const auto add_fields = [&](const auto& component) {
    for_each_field(component, [&](const auto& declared, const auto& value) {
      using Value = std::remove_cvref_t<decltype(value)>;
      std::string text;
      if constexpr (std::is_same_v<Value, bool>)
        text = value ? "true" : "false";
      else if constexpr (std::is_arithmetic_v<Value>)
        text = shortest(static_cast<double>(value));
      else
        text = to_string(value);
      list.emplace_back(declared.name, text);
    });
  };
  list.emplace_back("task", name_of(options.task));
  std::visit(add_fields, options.task);
  std::visit(
      [&](const auto& task) {
        if constexpr (requires { task.multiclass; }) {
          list.emplace_back("multiclass",
                            task.multiclass == Multiclass::one_vs_one ? "ovo" : "ovr");
          for (const auto& [label, factor] : task.class_weights)
            list.emplace_back("class-weight " + label, shortest(factor));
        }
      },
      options.task);
  list.emplace_back("kernel", name_of(options.kernel));
  std::visit(add_fields, options.kernel);
  if (options.approximate) {
    list.emplace_back("approximate", to_string(options.approximate->selection));
    if (options.approximate->rank > 0)
      list.emplace_back("rank", std::to_string(options.approximate->rank));
    if (options.approximate->residual > 0)
      list.emplace_back("residual", shortest(options.approximate->residual));
  }
  list.emplace_back("tolerance", shortest(options.stop.kkt));
  list.emplace_back("gap", shortest(options.stop.relative_gap));
  return list;
}

/// The thresholds of the two sides of a nu machine are its bias and half the width between them.
/// nu-SVC: b - rho and b + rho, and all is divided by rho; nu-SVR: b + epsilon and b - epsilon.
void set_width(const Loss& loss, Machine& machine) {
  const bool margin = std::holds_alternative<NuMargin>(loss);
  if (!margin && !std::holds_alternative<NuTube>(loss)) return;
  const double first = machine.lambda[0], second = machine.lambda[1];
  machine.lambda = {(first + second) / 2};
  machine.width = (margin ? second - first : first - second) / 2;
  if (!margin) return;
  // No margin within the rounding of f: the machine is that of an infinite cost.
  if (!(machine.width > machine.certificate.rounding) && machine.certificate.mercer &&
      (machine.ended == Ended::converged || machine.ended == Ended::stalled))
    machine.ended = Ended::unbounded;
  if (!(machine.width > std::numeric_limits<double>::min())) return;
  machine.lambda[0] /= machine.width;
  for (double& coefficient : machine.coefficient) coefficient /= machine.width;
}

/// The support vectors of all machines, once each, and the machines over them.
void assemble(const Examples& data, const Subproblems& problems, std::vector<Part>& parts,
              Model& model) {
  constexpr Index none = 0xffffffffu;
  std::vector<Index> position(data.x->count(), none), rows;
  for (const Part& part : parts)
    for (const auto& [row, coefficient] : part.coefficients) position[row] = 0;
  for (std::size_t i = 0; i < position.size(); ++i)
    if (position[i] != none) {
      position[i] = static_cast<Index>(rows.size());
      rows.push_back(static_cast<Index>(i));
    }
  model.support = data.x->is_sparse() ? Features::sparse(data.x->columns())
                                      : Features::dense(data.x->columns());
  model.support.append(data.x->view(), rows);
  model.support.fit();
  model.support_row.assign(rows.begin(), rows.end());
  for (std::size_t k = 0; k < parts.size(); ++k) {
    Machine machine;
    machine.positive = problems.list[k].positive;
    machine.negative = problems.list[k].negative;
    for (const auto& [row, coefficient] : parts[k].coefficients) {
      machine.support.push_back(position[row]);
      machine.coefficient.push_back(coefficient);
    }
    machine.lambda = parts[k].certified.solution.lambda;
    machine.ended = parts[k].certified.solution.ended;
    machine.iterations = parts[k].certified.solution.iterations;
    machine.certificate = parts[k].certified.certificate;
    set_width(problems.list[k].loss, machine);
    model.machines.push_back(std::move(machine));
  }
}

/// Rows that are equal to an earlier one in features and, where labels count, label.
std::size_t count_merged(const Dataset& data, std::span<const Index> first_equal, Outcome outcome) {
  const bool by_label = outcome != Outcome::novelty;
  std::vector<std::pair<Index, double>> seen;
  for (std::size_t i = 0; i < first_equal.size(); ++i)
    if (data.weight.empty() || data.weight[i] > 0)
      seen.emplace_back(first_equal[i], by_label ? data.y[i] : 0);
  const std::size_t rows = seen.size();
  std::sort(seen.begin(), seen.end());
  return rows - static_cast<std::size_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
}

Definite checked_precomputed(const Rows& matrix, std::uint64_t seed, const Threads& threads) {
  constexpr std::size_t sample = 500;
  const Mercer mercer = mercer_check(Precomputed{}, matrix, sample, seed, threads);
  if (mercer.asymmetry > 1e-6 * std::max(std::abs(mercer.largest), std::abs(mercer.smallest)))
    throw Error(Fault::data, "the precomputed kernel matrix is not symmetric",
                "K(i, j) and K(j, i) must be equal");
  // Matrices written with 6 to 8 digits are rounded that much.
  return mercer.smallest < -1e-6 * std::abs(mercer.largest) ? Definite::no : Definite::yes;
}

}  // namespace

Ended worse(Ended x, Ended y) {
  const auto rank = [](Ended ended) {
    switch (ended) {
      case Ended::converged:
        return 0;
      case Ended::stalled:
        return 1;
      case Ended::iteration_limit:
        return 2;
      case Ended::time_limit:
        return 3;
      case Ended::cancelled:
        return 4;
      case Ended::unbounded:
        return 5;
    }
    return 5;
  };
  return rank(x) >= rank(y) ? x : y;
}

namespace {

/// In the order in which the classes appear: the same whatever they are called.
std::vector<std::vector<Index>> rows_of_classes(const Dataset& data) {
  std::vector<std::vector<Index>> rows;
  std::vector<std::size_t> place;
  const Classes classes = classes_of(data);
  place.assign(classes.names.size(), classes.names.size());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    if (!data.weight.empty() && data.weight[i] == 0) continue;
    std::size_t& mine = place[classes.of_row[i]];
    if (mine == classes.names.size()) {
      mine = rows.size();
      rows.emplace_back();
    }
    rows[mine].push_back(static_cast<Index>(i));
  }
  return rows;
}

}  // namespace

Prepared prepare(Dataset data, const TrainOptions& options, const Threads& threads,
                 const Observer& observer) {
  std::visit([](const auto& kernel) { validate(kernel); }, options.kernel);
  Prepared prepared;
  prepared.problems = subproblems(data, options.task);
  prepared.features = data.x.columns();
  prepared.data_hash = content_hash(data);
  const Stopwatch clock;
  if (options.scaling) {
    prepared.scaling = learn_scaling(data.x, *options.scaling, available_memory_bytes() / 2);
    apply(prepared.scaling, data.x);
  }
  Examples& examples = prepared.examples;
  examples.x = std::make_shared<const Features>(std::move(data.x));
  if (std::holds_alternative<Precomputed>(options.kernel))
    examples.definite = checked_precomputed(*examples.x, options.seed, threads);
  else
    examples.first_equal = first_equal_rows(*examples.x);
  if (options.approximate)
    examples.approximation = std::make_shared<const ApproximatedKernel>(
        approximate_kernel(examples, options, threads, observer));
  else if (prepared.problems.list.size() > 1 && !examples.first_equal.empty())
    share_matrix(examples, rows_of_classes(data), options.kernel, shared_part(options));
  prepared.merged_rows = count_merged(data, examples.first_equal, prepared.problems.outcome);
  prepared.feature_names = std::move(data.feature_names);
  prepared.y = std::move(data.y);
  prepared.weight = std::move(data.weight);
  prepared.seconds = clock.seconds();
  return prepared;
}

Trained train(const Prepared& prepared, const Subproblems& problems, const TrainOptions& options,
              const Threads& threads, const Observer& observer) {
  const Stopwatch clock;
  const Examples& examples = prepared.examples;
  Trained trained;
  trained.merged_rows = prepared.merged_rows;
  Model& model = trained.model;
  model.outcome = problems.outcome;
  model.multiclass = problems.multiclass;
  model.classes = problems.classes;
  model.numeric_classes = problems.numeric_classes;
  model.kernel = options.kernel;
  model.features = prepared.features;
  model.feature_names = prepared.feature_names;
  model.scaling = prepared.scaling;
  model.options = options_of(options);
  model.seed = options.seed;
  model.rows = examples.x->count();
  model.data_hash = prepared.data_hash;
  model.program = "maxmargin " MAXMARGIN_VERSION;

  std::vector<Part> parts = train_all(examples, problems, options, threads, observer);
  trained.solver = parts.front().solver;
  trained.reason = parts.front().reason;
  model.options.emplace_back("solver", trained.solver);
  model.options.emplace_back("reason", trained.reason);
  if (examples.approximation) {
    const Approximated& low = examples.approximation->low;
    trained.rank = low.basis.size();
    trained.residual = low.residual.empty() ? 1 : low.residual.back() / low.trace;
  }
  trained.true_dual = 0;
  for (const Part& part : parts) trained.true_dual += part.true_dual;
  trained.ended = Ended::converged;
  trained.certificate = parts.front().certified.certificate;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Certified& certified = parts[k].certified;
    if (k > 0) add_to(trained.certificate, certified.certificate);
    trained.iterations += certified.solution.iterations;
    trained.certify_seconds += certified.seconds;
  }
  // Machines that are trained side by side are certified side by side.
  if (side_by_side(parts.size(), threads)) trained.certify_seconds /= threads.count();
  assemble(examples, problems, parts, model);
  for (const Machine& machine : model.machines) trained.ended = worse(trained.ended, machine.ended);
  trained.train_seconds = std::max(0.0, clock.seconds() - trained.certify_seconds);
  return trained;
}

namespace {

void add_probabilities(const Prepared& prepared, const TrainOptions& options,
                       const Threads& threads, const Observer& observer, Trained& trained) {
  const Stopwatch clock;
  TrainOptions limited = options;
  limited.stop.seconds = std::max(0.0, options.stop.seconds - trained.train_seconds);
  const Folds folds =
      make_folds(prepared.examples.x->count(), prepared.y, prepared.weight,
                 prepared.problems.outcome, options.probability_folds, options.seed);
  const OutOfFold judged = judge_out_of_fold(prepared, folds, limited, threads, observer);
  trained.model.calibration = calibrate(prepared, judged, options.task, options.probability_folds);
  trained.ended = worse(trained.ended, judged.ended);
  trained.calibrate_seconds = clock.seconds();
}

}  // namespace

Trained train(Dataset data, const TrainOptions& options, const Threads& threads,
              const Observer& observer) {
  const Prepared prepared = prepare(std::move(data), options, threads, observer);
  Trained trained = train(prepared, prepared.problems, options, threads, observer);
  trained.train_seconds += prepared.seconds;
  if (options.probability_folds > 0 && trained.ended != Ended::cancelled)
    add_probabilities(prepared, options, threads, observer, trained);
  return trained;
}

double gamma_scale(const Rows& rows) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < rows.count; ++i)
    rows.for_each(i, [&](Index, double value) {
      sum += value;
      squares += value * value;
    });
  const double cells = static_cast<double>(rows.count) * static_cast<double>(rows.columns);
  if (cells == 0) return 1;
  const double variance = squares / cells - (sum / cells) * (sum / cells);
  return variance > 0 ? 1 / (static_cast<double>(rows.columns) * variance) : 1;
}

}  // namespace maxmargin
