#include "maxmargin/train/train.hpp"

#include <algorithm>
#include <cmath>

#include "maxmargin/base/buffer.hpp"
#include "maxmargin/base/clock.hpp"
#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/kernel/mercer.hpp"
#include "maxmargin/linalg/enclosed.hpp"
#include "maxmargin/train/approximation.hpp"
#include "maxmargin/train/folds/calibrate.hpp"
#include "maxmargin/train/machines.hpp"
#include "maxmargin/train/recorded.hpp"
#include "maxmargin/train/start.hpp"

namespace maxmargin {

void add_to(Certificate& sum, const Certificate& part) {
  // Bounds stay bounds: sums are rounded to their safe side.
  sum.primal = rounded_up(sum.primal + part.primal);
  sum.dual = rounded_down(sum.dual + part.dual);
  sum.gap = rounded_up(sum.gap + part.gap);
  sum.best_primal = rounded_up(sum.best_primal + part.best_primal);
  sum.best_dual = rounded_down(sum.best_dual + part.best_dual);
  sum.relative_gap = std::max(sum.relative_gap, part.relative_gap);
  sum.kkt = std::max(sum.kkt, part.kkt);
  sum.equality_residual = std::max(sum.equality_residual, part.equality_residual);
  sum.bound_residual = std::max(sum.bound_residual, part.bound_residual);
  sum.rounding = std::max(sum.rounding, part.rounding);
  sum.mercer = sum.mercer && part.mercer;
  sum.sampled = sum.sampled || part.sampled;
}

namespace {

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

Definite checked_precomputed(const Rows& matrix, const TrainOptions& options,
                             const Threads& threads) {
  if (const Asymmetry found = asymmetry_of(matrix, threads); found.is_serious())
    throw Error(Fault::data,
                "the precomputed kernel matrix is not symmetric: K(" +
                    std::to_string(found.row + 1) + ", " + std::to_string(found.column + 1) +
                    ") is not K(" + std::to_string(found.column + 1) + ", " +
                    std::to_string(found.row + 1) + ")",
                "K(i, j) and K(j, i) must be equal");
  const bool whole = options.mercer_full || matrix.count <= mercer_rows;
  const Mercer mercer = mercer_check(Precomputed{}, matrix, whole ? matrix.count : eigenvalue_rows,
                                     options.seed, threads);
  return !mercer.holds ? Definite::no : mercer.is_sampled() ? Definite::unknown : Definite::yes;
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

/// The features of a precomputed kernel's rows are its values with the training rows, and functions
/// of these would be functions of the sample. What stands behind them may be anything.
void require_behind_matrix(const ParametricFunctions& functions, const Dataset& data) {
  const ParametricFunction* wrong = functions.user_of_first(data.rows());
  if (wrong == nullptr) return;
  throw Error(
      Fault::usage,
      "the function '" + wrong->text + "' is of kernel values: with " +
          std::to_string(data.rows()) + " rows, the first " + std::to_string(data.rows()) +
          " features of a precomputed kernel are these",
      "give functions the columns behind them, from x" + std::to_string(data.rows() + 1) + " on");
}

/// Their values, which they have from the rows as given; columns that are functions leave x.
void add_functions(Dataset& data, const TrainOptions& options, const Threads& threads,
                   Examples& examples) {
  const ParametricFunctions functions(options.functions, data.feature_names, data.x.columns());
  const bool by_number = std::holds_alternative<Precomputed>(options.kernel);
  if (by_number) require_behind_matrix(functions, data);
  if (by_number && options.scaling)
    throw Error(Fault::usage, "the values of a precomputed kernel cannot be scaled",
                "leave --scale out");
  for (const ParametricFunction& each : options.functions)
    examples.functions.names.push_back(each.text);
  examples.functions.values = functions.values(data.x, threads);
  const std::size_t columns =
      by_number ? std::min(data.x.columns(), data.rows()) : data.x.columns();
  if (functions.hides() || columns < data.x.columns()) data.x = functions.visible(data.x, columns);
}

}  // namespace

Prepared prepare(Dataset data, const TrainOptions& options, const Threads& threads,
                 const Observer& observer) {
  std::visit([](const auto& kernel) { validate(kernel); }, options.kernel);
  Prepared prepared;
  prepared.problems = subproblems(data, options.task);
  prepared.features = data.x.columns();
  if (options.start) require_start_fits(*options.start, prepared.problems, options);
  if (options.certified) prepared.data_hash = content_hash(data);
  const Stopwatch clock;
  if (!options.functions.empty()) add_functions(data, options, threads, prepared.examples);
  if (options.scaling) {
    // That of a model to start from, so that its support vectors are rows of the data.
    prepared.scaling = options.start && !options.start->scaling.factor.empty()
                           ? options.start->scaling
                           : learn_scaling(data.x, *options.scaling, available_memory_bytes() / 2);
    apply(prepared.scaling, data.x);
  }
  Examples& examples = prepared.examples;
  examples.x = std::make_shared<const Features>(std::move(data.x));
  if (std::holds_alternative<Precomputed>(options.kernel))
    examples.definite = checked_precomputed(*examples.x, options, threads);
  else
    examples.first_equal = first_equal_rows(*examples.x, threads);
  if (options.approximate && options.true_gap == 0)
    examples.approximation = std::make_shared<const ApproximatedKernel>(
        approximate_kernel(examples, options, threads, observer));
  else if (prepared.problems.list.size() > 1 && !examples.first_equal.empty())
    share_matrix(examples, rows_of_classes(data), options.kernel, shared_part(options), threads);
  prepared.merged_rows = count_merged(data, examples.first_equal, prepared.problems.outcome);
  if (options.start) take_start(*options.start, options, prepared, threads);
  prepared.feature_names = std::move(data.feature_names);
  prepared.y = std::move(data.y);
  prepared.weight = std::move(data.weight);
  prepared.seconds = clock.seconds();
  return prepared;
}

Model model_asked_for(const Subproblems& problems, const TrainOptions& options) {
  Model model;
  model.task = options.task;
  model.outcome = problems.outcome;
  model.multiclass = problems.multiclass;
  model.classes = problems.classes;
  model.numeric_classes = problems.numeric_classes;
  model.kernel = options.kernel;
  model.functions = options.functions;
  model.options = recorded(options);
  model.seed = options.seed;
  model.program = "maxmargin " MAXMARGIN_VERSION;
  return model;
}

namespace {

Model model_without_machines(const Prepared& prepared, const Subproblems& problems,
                             const TrainOptions& options) {
  Model model = model_asked_for(problems, options);
  model.features = prepared.features;
  model.feature_names = prepared.feature_names;
  model.scaling = prepared.scaling;
  model.rows = prepared.examples.x->count();
  model.data_hash = prepared.data_hash;
  return model;
}

}  // namespace

Trained summed_up(const Prepared& prepared, const Subproblems& problems,
                  const TrainOptions& options, std::span<const TrainedMachine> parts,
                  const Threads& threads) {
  const Examples& examples = prepared.examples;
  Trained trained;
  trained.merged_rows = prepared.merged_rows;
  trained.model = model_without_machines(prepared, problems, options);
  // Machines that had no time to begin have no solver.
  const auto first =
      std::ranges::find_if(parts, [](const TrainedMachine& part) { return !part.solver.empty(); });
  trained.solver = first == parts.end() ? "none" : first->solver;
  trained.reason = first == parts.end() ? "there was no time to begin" : first->reason;
  trained.model.options.emplace_back("solver", trained.solver);
  trained.model.options.emplace_back("reason", trained.reason);
  if (examples.approximation) {
    const Approximated& low = examples.approximation->low;
    trained.rank = low.basis.size();
    trained.residual = low.residual.empty() ? 1 : low.residual.back() / low.trace;
  }
  trained.true_dual = 0;
  for (const TrainedMachine& part : parts) {
    trained.true_dual += part.true_dual;
    if (!part.improvement) continue;
    trained.improvement.push_back(*part.improvement);
    trained.rank = std::max(trained.rank, part.rank);
    trained.residual = std::max(trained.residual, part.residual);
  }
  trained.ended = Ended::converged;
  trained.certificate = parts.front().certified.certificate;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const Certified& certified = parts[k].certified;
    if (k > 0) add_to(trained.certificate, certified.certificate);
    trained.iterations += certified.solution.iterations;
    trained.values_asked += certified.solution.values_asked;
    trained.values_found += certified.solution.values_found;
    trained.certify_seconds += certified.seconds;
    if (trained.obstacle.empty()) trained.obstacle = certified.obstacle;
  }
  // Machines that are trained side by side are certified side by side.
  if (side_by_side(parts.size(), threads)) trained.certify_seconds /= threads.count();
  assemble(examples, problems, parts, trained.model);
  for (const Machine& machine : trained.model.machines)
    trained.ended = worse(trained.ended, machine.ended);
  return trained;
}

Trained put_together(const Prepared& prepared, const Subproblems& problems,
                     const TrainOptions& options, std::span<const TrainedMachine> parts,
                     const Threads& threads) {
  Trained trained = summed_up(prepared, problems, options, parts, threads);
  const Features& all = *prepared.examples.x;
  Model& model = trained.model;
  const std::vector<Index> rows(model.support_row.begin(), model.support_row.end());
  model.support =
      all.is_sparse() ? Features::sparse(all.columns()) : Features::dense(all.columns());
  model.support.append(all.view(), rows, threads);
  model.support.fit();
  return trained;
}

Trained train(const Prepared& prepared, const Subproblems& problems, const TrainOptions& options,
              const Threads& threads, const Observer& observer) {
  const Stopwatch clock;
  const std::vector<TrainedMachine> parts =
      train_machines(prepared.examples, problems, options, threads, observer);
  Trained trained = put_together(prepared, problems, options, parts, threads);
  trained.train_seconds = std::max(0.0, clock.seconds() - trained.certify_seconds);
  return trained;
}

namespace {

void add_probabilities(const Prepared& prepared, const TrainOptions& options,
                       const Retrainer* retrainer, const Threads& threads, const Observer& observer,
                       Trained& trained) {
  const Stopwatch clock;
  TrainOptions limited = options;
  limited.stop.seconds = std::max(0.0, options.stop.seconds - trained.train_seconds);
  const Folds folds =
      make_folds(prepared.examples.x->count(), prepared.y, prepared.weight,
                 prepared.problems.outcome, options.probability_folds, options.seed);
  const OutOfFold judged =
      judge_out_of_fold(prepared, folds, limited, threads, observer, retrainer);
  trained.model.calibration = calibrate(prepared, judged, options.task, options.probability_folds);
  trained.ended = worse(trained.ended, judged.ended);
  trained.calibrate_seconds = clock.seconds();
}

}  // namespace

namespace {

Trained train_as_numbered(Dataset data, const TrainOptions& options, const Threads& threads,
                          const Observer& observer) {
  const Prepared prepared = prepare(std::move(data), options, threads, observer);
  const bool calibrated = options.probability_folds > 0;
  const Stopwatch clock;
  std::optional<Retrainer> retrainer;
  if (calibrated)
    if (auto can = retrainable(prepared, options,
                               static_cast<std::size_t>(options.probability_folds), threads))
      retrainer.emplace(prepared, *std::move(can), options, threads, observer);
  Trained trained =
      retrainer ? put_together(prepared, prepared.problems, options, retrainer->whole(), threads)
                : put_together(prepared, prepared.problems, options,
                               train_machines(prepared.examples, prepared.problems, options,
                                              threads, observer),
                               threads);
  trained.train_seconds =
      prepared.seconds + std::max(0.0, clock.seconds() - trained.certify_seconds);
  if (calibrated && trained.ended != Ended::cancelled)
    add_probabilities(prepared, options, retrainer ? &*retrainer : nullptr, threads, observer,
                      trained);
  return trained;
}

}  // namespace

Renumbering gaps_of(const Dataset& data, const TrainOptions& options) {
  const bool seen = options.scaling || !options.functions.empty() ||
                    std::holds_alternative<Precomputed>(options.kernel) ||
                    std::holds_alternative<Custom>(options.kernel);
  return seen ? Renumbering() : Renumbering(data.x);
}

Trained train(Dataset data, const TrainOptions& options, const Threads& threads,
              const Observer& observer) {
  const Renumbering numbers = gaps_of(data, options);
  if (numbers.none()) return train_as_numbered(std::move(data), options, threads, observer);
  const std::size_t features = data.x.columns();
  const std::string hash = options.certified ? content_hash(data) : std::string();
  data.x = numbers.applied(data.x);
  Trained trained = train_as_numbered(std::move(data), options, threads, observer);
  trained.model.support = numbers.undone(trained.model.support, features);
  trained.model.features = features;
  trained.model.data_hash = hash;
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
