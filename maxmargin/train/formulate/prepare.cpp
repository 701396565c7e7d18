#include <algorithm>

#include "maxmargin/base/clock.hpp"
#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/kernel/given.hpp"
#include "maxmargin/kernel/mercer.hpp"
#include "maxmargin/train/machines/approximation.hpp"
#include "maxmargin/train/machines/machines.hpp"
#include "maxmargin/train/machines/start.hpp"

namespace maxmargin {

namespace {

/// Rows that are equal to an earlier one in features and, where labels count, label.
std::size_t count_merged(const Dataset& data, std::span<const Index> first_equal, Outcome outcome) {
  const bool by_label = outcome != Outcome::novelty;
  std::vector<std::pair<Index, double>> seen;
  for (std::size_t i = 0; i < first_equal.size(); ++i)
    if (data.weight.empty() || data.weight[i] > 0 ||
        (!data.weight_over.empty() && data.weight_over[i] > 0))
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
  const Mercer mercer = mercer_holds(options.kernel, matrix, whole ? matrix.count : eigenvalue_rows,
                                     options.seed, threads);
  return !mercer.holds ? Definite::no : mercer.is_sampled() ? Definite::unknown : Definite::yes;
}

/// In the order in which the classes appear: the same whatever they are called.
std::vector<std::vector<Index>> rows_of_classes(const Dataset& data) {
  std::vector<std::vector<Index>> rows;
  std::vector<std::size_t> position;
  const Classes classes = classes_of(data);
  position.assign(classes.names.size(), classes.names.size());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    if (!data.weight.empty() && data.weight[i] == 0) continue;
    std::size_t& mine = position[classes.of_row[i]];
    if (mine == classes.names.size()) {
      mine = rows.size();
      rows.emplace_back();
    }
    rows[mine].push_back(static_cast<Index>(i));
  }
  return rows;
}

/// The features of a precomputed kernel's rows are its values with the training rows, and functions
/// of these would be functions of the sample. The columns behind them may be used.
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
  const bool by_number = is_given(options.kernel);
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

Prepared prepare(Dataset data, const TrainOptions& options, const Context& context) {
  const Threads& threads = context.threads;
  visit_list([](const auto& kernel) { validate(kernel); }, options.kernel);
  Prepared prepared;
  prepared.problems = subproblems(data, options.task);
  prepared.features = data.x.columns();
  if (options.start) require_start_fits(*options.start, prepared.problems, options);
  if (options.certified) prepared.data_hash = content_hash(data);
  const Stopwatch clock;
  if (!options.functions.empty()) add_functions(data, options, threads, prepared.examples);
  if (options.scaling) {
    // The scaling of a model to start from, so that its support vectors are rows of the data.
    prepared.scaling =
        options.start && !options.start->scaling.factor.empty()
            ? options.start->scaling
            : learn_scaling(data.x, *options.scaling, memory_for(options, context).bytes);
    apply(prepared.scaling, data.x);
  }
  // Kernels of features do not depend on the numbers of the features.
  if (form_of(options.kernel)) prepared.numbers = Renumbering(data.x);
  if (!prepared.numbers.none()) data.x = prepared.numbers.applied(data.x);
  Examples& examples = prepared.examples;
  examples.x = std::make_shared<const Features>(std::move(data.x));
  if (is_given(options.kernel))
    examples.definite = checked_precomputed(*examples.x, options, threads);
  else
    examples.first_equal = first_equal_rows(*examples.x, threads);
  if (options.approximate && options.true_gap == 0)
    examples.approximation =
        std::make_shared<const ApproximatedKernel>(approximate_kernel(examples, options, context));
  else if (prepared.problems.list.size() > 1 && !examples.first_equal.empty())
    share_matrix(examples, rows_of_classes(data), options.kernel,
                 memory_for(options, context).shared_values(), context);
  prepared.merged_rows = count_merged(data, examples.first_equal, prepared.problems.outcome);
  if (options.start) take_start(*options.start, options, prepared, threads);
  prepared.feature_names = std::move(data.feature_names);
  prepared.y = std::move(data.y);
  prepared.weight = std::move(data.weight);
  for (std::size_t i = 0; i < data.weight_over.size(); ++i)
    prepared.weight[i] = prepared.weight[i] / 2 + data.weight_over[i] / 2;
  prepared.seconds = clock.seconds();
  return prepared;
}

RowsToPredict rows_to_predict(const Prepared& prepared, std::span<const Index> rows) {
  const Examples& examples = prepared.examples;
  RowsToPredict chosen;
  chosen.x = none_like(*examples.x);
  chosen.x.append(examples.x->view(), rows);
  if (!prepared.numbers.none()) chosen.x = prepared.numbers.undone(chosen.x, prepared.features);
  for (const Index row : rows)
    for (const double value : examples.functions.of_row(row)) chosen.functions.push_back(value);
  return chosen;
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
