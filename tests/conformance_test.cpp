// One suite over the lists: every kernel, every task and every solver, on dense and sparse data. A
// new entry of a list is tested the day it is listed. The reference is the definition: objectives
// and decision values by naive double loops from the coefficients alone.
#include <gtest/gtest.h>

#include <functional>

#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/all_kernels.hpp"
#include "tests/made_data.hpp"
#include "tests/other_costs.hpp"

namespace maxmargin::conformance_test {
namespace {

using made::NamedKernel;
using made::Storage;

constexpr std::size_t rows = 48, columns = 6;

struct NamedTask {
  std::string name;
  Task task;
  bool weighted;
  std::size_t functions = 0;  ///< so many of those below
};
void PrintTo(const NamedTask& task, std::ostream* out) { *out << task.name; }

std::vector<NamedTask> all_tasks() {
  std::vector<NamedTask> result;
  for_each_component<Task>([&]<class T>(T task) {
    if constexpr (requires { task.cost; }) task.cost = 2;
    // A small nu would leave classes that overlap no margin.
    if constexpr (requires { task.nu; }) task.nu = T::outcome == Outcome::classes ? 0.6 : 0.3;
    result.push_back({std::string(T::name), task, false});
    if constexpr (requires { task.class_weights; }) {
      task.class_weights = {{"-1", 0.8}, {"1", 1.25}};
    }
    if constexpr (std::is_same_v<T, Svr>) task.loss = EpsilonInsensitive{0.1, 1.5, 0.5};
#ifndef MAXMARGIN_SANITIZED
    // The code is the same as without costs; sanitizers have seen it.
    result.push_back({std::string(T::name) + "_costs", task, true});
#endif
  });
  return result;
}

/// Unpenalised functions, each an equality row more, and the same by hand.
const std::vector<ParametricFunction> all_functions = {
    {ParametricFunction::Kind::expression, "sin(6*x1)", {}},
    {ParametricFunction::Kind::expression, "sin(12*x2)", {}},
    {ParametricFunction::Kind::expression, "sin(13*x3)", {}}};
std::vector<double> function_values(const Rows& x, std::size_t row) {
  std::vector<double> v(columns, 0.0);
  x.for_each(row, [&](Index feature, double value) { v[feature] = value; });
  return {std::sin(6 * v[0]), std::sin(12 * v[1]), std::sin(13 * v[2])};
}

std::vector<NamedTask> tasks_with_functions() {
  std::vector<NamedTask> result;
  for (const NamedTask& task : all_tasks())
    for (const std::size_t count : {1, 3}) {
      NamedTask& added = result.emplace_back(task);
      added.functions = count;
      added.name += "_functions_" + std::to_string(count);
    }
  return result;
}

std::vector<std::string> all_solvers() {
  std::vector<std::string> names;
  for_each_component<Solver>([&](const auto& solver) { names.emplace_back(solver.name); });
  return names;
}

/// What a training run was given, and what it made, looked at row by row.
struct Case {
  Dataset data;
  Kernel kernel;
  Task task;
  Trained trained;

  const Machine& machine() const { return trained.model.machines.at(0); }

  /// What coefficients and bias have been divided by; a margin that is not positive divides
  /// nothing.
  double scale() const {
    return std::holds_alternative<NuSvc>(task) && machine().width > 0 ? machine().width : 1;
  }

  /// What the functions add to f.
  double offset(std::size_t row) const {
    double sum = 0;
    for (std::size_t r = 0; r < trained.model.functions.size(); ++r)
      sum += machine().lambda[r + 1] * function_values(data.x, row)[r];
    return sum;
  }

  double weight(std::size_t row) const { return data.weight.empty() ? 1 : data.weight[row]; }

  /// beta of each training row.
  std::vector<double> coefficients() const {
    std::vector<double> beta(data.rows(), 0.0);
    for (std::size_t k = 0; k < machine().support.size(); ++k)
      beta[trained.model.support_row[machine().support[k]]] += machine().coefficient[k];
    return beta;
  }

  /// f of each training row without the bias: the double loop.
  std::vector<double> expansion(const std::vector<double>& beta) const {
    std::vector<double> g(data.rows(), 0.0);
    for (std::size_t i = 0; i < data.rows(); ++i)
      for (std::size_t j = 0; j < data.rows(); ++j)
        if (beta[j] != 0) g[i] += beta[j] * naive_value(kernel, data.x, j, data.x, i);
    return g;
  }
};

/// The primal and dual objectives by their textbook definitions, and the bounds of beta.
struct Textbook {
  double primal = 0, dual = 0;
  double sum = 0;                               ///< what the coefficients must sum to
  double least_size = 0, most_size = infinity;  ///< bounds on the sum of their absolute values
  std::vector<double> lower, upper;
};

double class_factor(const std::vector<std::pair<std::string, double>>& class_weights,
                    double label) {
  for (const auto& [name, factor] : class_weights)
    if (name == shortest(label)) return factor;
  return 1;
}

Textbook textbook(const Case& run, const Svc& task, const std::vector<double>& beta,
                  const std::vector<double>& g) {
  Textbook result;
  const Classes classes = classes_of(run.data);
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const bool positive = static_cast<int>(classes.of_row[i]) == run.machine().positive;
    const double y = positive ? 1 : -1;
    const double cost = task.cost * class_factor(task.class_weights, run.data.y[i]) * run.weight(i);
    result.primal += cost * std::max(0.0, 1 - y * (g[i] + run.machine().bias()));
    result.dual += y * beta[i];
    result.lower.push_back(positive ? 0 : -cost);
    result.upper.push_back(positive ? cost : 0);
  }
  return result;
}

Textbook textbook(const Case& run, const NuSvc& task, const std::vector<double>& beta,
                  const std::vector<double>& g) {
  Textbook result;
  const Classes classes = classes_of(run.data);
  const double rho = run.machine().width, b = run.machine().bias() * run.scale();
  double total = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const bool positive = static_cast<int>(classes.of_row[i]) == run.machine().positive;
    const double y = positive ? 1 : -1;
    const double weight = class_factor(task.class_weights, run.data.y[i]) * run.weight(i);
    total += weight;
    result.primal += weight * std::max(0.0, rho - y * (g[i] + b));
    result.lower.push_back(positive ? 0 : -weight);
    result.upper.push_back(positive ? weight : 0);
  }
  result.primal -= task.nu * total * rho;
  result.least_size = result.most_size = task.nu * total;
  return result;
}

Textbook textbook(const Case& run, const NuSvr& task, const std::vector<double>& beta,
                  const std::vector<double>& g) {
  Textbook result;
  const double epsilon = run.machine().width;
  EXPECT_GE(epsilon, 0);
  double total = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double y = run.data.y[i], f = g[i] + run.machine().bias();
    const double cost = task.cost * run.weight(i);
    total += cost;
    result.primal += cost * std::max(0.0, std::abs(y - f) - epsilon);
    result.dual += y * beta[i];
    result.lower.push_back(-cost);
    result.upper.push_back(cost);
  }
  result.primal += task.nu * total * epsilon;
  result.most_size = task.nu * total;
  return result;
}

Textbook textbook(const Case& run, const Svr& task, const std::vector<double>& beta,
                  const std::vector<double>& g) {
  Textbook result;
  const auto [epsilon, over_factor, under_factor] = std::get<EpsilonInsensitive>(task.loss);
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double y = run.data.y[i], f = g[i] + run.machine().bias();
    const double under = task.cost * under_factor * run.weight(i);
    const double over = task.cost * over_factor * run.weight(i);
    result.primal += under * std::max(0.0, y - f - epsilon) + over * std::max(0.0, f - y - epsilon);
    result.dual += y * beta[i] - epsilon * std::abs(beta[i]);
    result.lower.push_back(-over);
    result.upper.push_back(under);
  }
  return result;
}

Textbook textbook(const Case& run, const OneClass& task, const std::vector<double>& beta,
                  const std::vector<double>& g) {
  Textbook result;
  const double rho = -run.machine().bias();
  double total = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    const double weight = run.weight(i);
    total += weight;
    result.primal += weight * std::max(0.0, rho - g[i]);
    result.lower.push_back(0);
    result.upper.push_back(weight);
  }
  result.sum = task.nu * total;
  result.primal -= result.sum * rho;
  return result;
}

Dataset data_for(const NamedKernel& kernel, const NamedTask& task, Storage storage) {
  Dataset data = outcome_of(task.task) == Outcome::number
                     ? made::regression(rows, columns, storage, 11)
                     : made::classification(rows, columns, storage, 12);
  if (outcome_of(task.task) == Outcome::novelty) data.y.clear();
  if (task.weighted) data.weight = made::weights(rows, 13);
  if (std::holds_alternative<Precomputed>(kernel.kernel)) data = made::gram_of(std::move(data));
  return data;
}

// SMO as it goes over many rows: parts of the problem first, and sets that do not hold it; and as
// it goes where values are expensive. tests/fast_paths_test.cpp shows that these ways are gone.
constexpr std::string_view small_parts = "smo in small parts";
constexpr std::string_view dear_values = "smo with expensive values";

std::vector<std::string> all_runs() {
  std::vector<std::string> runs = all_solvers();
  runs.emplace_back(small_parts);
  runs.emplace_back(dear_values);
  return runs;
}

class Conformance : public testing::TestWithParam<std::tuple<NamedKernel, NamedTask>> {
 protected:
  TrainOptions options(const std::string& solver) const {
    TrainOptions result;
    result.task = std::get<1>(GetParam()).task;
    result.kernel = std::get<0>(GetParam()).kernel;
    result.solver = solver;
    if (solver == small_parts || solver == dear_values) {
      result.solver = Smo::name;
      Smo parts;
      parts.working_set = 4;
      result.settings = parts;
    }
    result.stop.kkt = 1e-5;
    result.stop.relative_gap = 1e-6;
    result.memory_bytes = std::size_t{1} << 20;
    const auto count = static_cast<std::ptrdiff_t>(std::get<1>(GetParam()).functions);
    result.functions.assign(all_functions.begin(), all_functions.begin() + count);
    return result;
  }

  static Context context(const std::string& solver, const Threads& threads) {
    CostModel costs = solver == dear_values ? other_costs::dear_values() : CostModel{};
    if (solver == small_parts) costs.pairs.cascade_from = costs.pairs.least_part = 8;
    return Context(threads).with_costs(costs);
  }

  /// Calls `check(run)` for each storage and each solver that accepts the problem.
  void for_each_run(const std::function<void(const Case&)>& check) const {
    const auto& [kernel, task] = GetParam();
    const Threads two(2);
    for (const Storage storage : {Storage::dense_floats, Storage::dense_doubles, Storage::sparse}) {
      int accepted = 0;
      for (const std::string& solver : all_runs()) {
        SCOPED_TRACE(made::name_of(storage) + ", " + solver);
        try {
          Dataset data = data_for(kernel, task, storage);
          Trained trained = train(made::copy_of(data), options(solver), context(solver, two));
          ++accepted;
          check(Case{std::move(data), kernel.kernel, task.task, std::move(trained)});
        } catch (const Error& refusal) {
          EXPECT_EQ(refusal.fault(), Fault::usage) << refusal.what();
        }
      }
      EXPECT_GT(accepted, 0);
    }
  }
};

void certificate_meets_what_was_asked(const Case& run) {
  const Certificate& certificate = run.trained.certificate;
  EXPECT_EQ(run.trained.ended, Ended::converged);
  EXPECT_LE(certificate.kkt, 1e-5);
  if (definite(run.kernel) == Definite::no) {
    EXPECT_FALSE(certificate.mercer);
  } else {
    EXPECT_TRUE(certificate.mercer);
    EXPECT_GE(certificate.gap, -1e-9 * std::abs(certificate.primal));
    EXPECT_LE(certificate.relative_gap, 1e-6);
    EXPECT_LE(certificate.best_primal,
              certificate.primal + 1e-12 * (1 + std::abs(certificate.primal)));
    EXPECT_GE(certificate.best_dual, certificate.dual - 1e-12 * std::abs(certificate.dual));
  }
  EXPECT_LE(certificate.equality_residual, 1e-9);
  EXPECT_LE(certificate.bound_residual, 0);
}

void objectives_are_those_of_the_textbook(const Case& run) {
  std::vector<double> beta = run.coefficients();
  for (double& coefficient : beta) coefficient *= run.scale();
  const std::vector<double> g = run.expansion(beta);
  std::vector<double> with_functions = g;
  for (std::size_t i = 0; i < g.size(); ++i) with_functions[i] += run.scale() * run.offset(i);
  Textbook expected = std::visit(
      [&](const auto& task) { return textbook(run, task, beta, with_functions); }, run.task);
  for (std::size_t r = 0; r < run.trained.model.functions.size(); ++r) {
    double along = 0;
    for (std::size_t i = 0; i < beta.size(); ++i)
      along += beta[i] * function_values(run.data.x, i)[r];
    EXPECT_NEAR(along, 0, 1e-9);
  }
  double half_norm = 0, sum = 0, absolute = 0;
  for (std::size_t i = 0; i < beta.size(); ++i) {
    half_norm += beta[i] * g[i] / 2;
    sum += beta[i];
    absolute += std::abs(beta[i]);
    EXPECT_GE(beta[i], expected.lower[i] - 1e-12);
    EXPECT_LE(beta[i], expected.upper[i] + 1e-12);
  }
  EXPECT_NEAR(sum, expected.sum, 1e-9);
  EXPECT_GE(absolute, expected.least_size - 1e-9);
  EXPECT_LE(absolute, expected.most_size + 1e-9);
  const double size = std::abs(half_norm) + std::abs(expected.primal) + 1e-3;
  EXPECT_NEAR(run.trained.certificate.primal, expected.primal + half_norm, 1e-5 * size);
  EXPECT_NEAR(run.trained.certificate.dual, expected.dual - half_norm, 1e-5 * size);
}

void decision_values_are_those_of_the_double_loop(const Case& run) {
  const std::vector<double> beta = run.coefficients(), g = run.expansion(beta);
  double scale = std::abs(run.machine().bias());
  for (std::size_t j = 0; j < beta.size(); ++j)
    scale += std::abs(beta[j]) * std::abs(naive_value(run.kernel, run.data.x, j, run.data.x, j));
  const Predictor predictor(run.trained.model);
  const std::vector<double> f =
      predictor.decision_values(predictor.prepared(run.data.x), Threads(2));
  ASSERT_EQ(f.size(), g.size());
  for (std::size_t i = 0; i < g.size(); ++i)
    EXPECT_NEAR(f[i], g[i] + run.offset(i) + run.machine().bias(), 2e-6 * scale) << "row " << i;
}

// Training takes most of the time: each machine is made once for all that has to hold of it.
TEST_P(Conformance, CertificateObjectivesAndDecisionValuesHold) {
  for_each_run([](const Case& run) {
    certificate_meets_what_was_asked(run);
    objectives_are_those_of_the_textbook(run);
    decision_values_are_those_of_the_double_loop(run);
  });
}

TEST_P(Conformance, NumberOfThreadsDoesNotChangeOneBit) {
  const auto& [kernel, task] = GetParam();
  const Threads alone(1), three_threads(3);
  for (const std::string& solver : all_runs()) {
    SCOPED_TRACE(solver);
    const Dataset data = data_for(kernel, task, Storage::sparse);
    try {
      const Model one = train(made::copy_of(data), options(solver), context(solver, alone)).model;
      const Model three =
          train(made::copy_of(data), options(solver), context(solver, three_threads)).model;
      EXPECT_EQ(digest(one), digest(three));
      EXPECT_EQ(Predictor(one).decision_values(data.x, Threads(1)),
                Predictor(three).decision_values(data.x, Threads(3)));
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.fault(), Fault::usage) << refusal.what();
    }
  }
}

std::string case_name(const testing::TestParamInfo<Conformance::ParamType>& instance) {
  std::string name = std::get<0>(instance.param).name + "_" + std::get<1>(instance.param).name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Lists, Conformance,
                         testing::Combine(testing::ValuesIn(made::all_kernels()),
                                          testing::ValuesIn(all_tasks())),
                         case_name);

// More equality rows are the problem's matter, not the kernel's.
INSTANTIATE_TEST_SUITE_P(Functions, Conformance,
                         testing::Combine(testing::Values(NamedKernel{"rbf", Rbf{.gamma = 0.75}}),
                                          testing::ValuesIn(tasks_with_functions())),
                         case_name);

}  // namespace
}  // namespace maxmargin::conformance_test
