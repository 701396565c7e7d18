// Machines with unpenalised functions beside the kernel part, against a dense reference that is
// stated here row by row, and against what must hold at an optimum.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/problem/matrix/kernel_quadratic.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::semi_parametric_test {
namespace {

const Kernel kernel = Rbf{.gamma = 0.5};
constexpr double cost = 2, nu = 0.2, epsilon = 0.1;

ParametricFunction formula(const std::string& text) {
  return {ParametricFunction::Kind::expression, text, {}};
}

/// Three features around zero; the target has a part in each of the functions below.
Dataset made_data(std::size_t rows, Outcome outcome, std::uint64_t seed = 4) {
  Rng rng(seed);
  Dataset data;
  data.x = Features::dense(3);
  for (std::size_t i = 0; i < rows; ++i) {
    const double x = rng.normal(), z = rng.normal(), t = rng.normal();
    data.x.append(std::vector<double>{x, z, t});
    const double level = 0.5 * x - x * z + std::sin(2 * t) + 0.5 * rng.normal();
    if (outcome == Outcome::classes) data.y.push_back(level > 0 ? 1 : -1);
    if (outcome == Outcome::number) data.y.push_back(level);
  }
  return data;
}

const std::vector<ParametricFunction> functions = {formula("x1"), formula("x1*x2"),
                                                   formula("sin(3*x3)")};
std::vector<double> plain_values(const Rows& x, std::size_t row) {
  double v[3] = {0, 0, 0};
  x.for_each(row, [&](Index feature, double value) { v[feature] = value; });
  return {v[0], v[0] * v[1], std::sin(3 * v[2])};
}

/// Written and read back.
Model copied(const Model& model) {
  const std::string bytes = to_bytes(model);
  return from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "copy");
}

std::vector<Task> all_tasks() {
  return {Svc{.cost = cost}, NuSvc{.nu = nu},
          Svr{.cost = cost, .loss = EpsilonInsensitive{epsilon}}, NuSvr{.cost = cost, .nu = nu},
          OneClass{.nu = nu}};
}

TrainOptions options_for(const Task& task, std::size_t count, double accuracy = 1e-9) {
  TrainOptions options;
  options.task = task;
  options.kernel = kernel;
  options.stop.kkt = accuracy;
  options.stop.relative_gap = accuracy / 10;
  options.functions.assign(functions.begin(),
                           functions.begin() + static_cast<std::ptrdiff_t>(count));
  return options;
}

/// The dual of a task as the textbook has it, with a plain row for each function.
DualQp stated(const Dataset& data, const Task& task, std::size_t count) {
  DualQp qp;
  qp.K = make_kernel_quadratic(kernel, std::make_shared<const Features>(made::copy_of(data).x));
  const auto add = [&](std::size_t row, const Block& block) {
    qp.row.push_back(static_cast<Index>(row));
    qp.block.push_back(block);
  };
  const double rows = static_cast<double>(data.rows());
  bool two_sides = false;
  double total = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double y = data.y.empty() ? 1 : data.y[i];
    if (std::holds_alternative<Svc>(task)) add(i, {y, -1, 0, cost, 0});
    if (std::holds_alternative<NuSvc>(task)) add(i, {y, 0, 0, 1, 0});
    if (std::holds_alternative<OneClass>(task)) add(i, {1, 0, 0, 1, 0});
    if (outcome_of(task) != Outcome::number) continue;
    const double width = std::holds_alternative<Svr>(task) ? epsilon : 0;
    add(i, {1, width - y, 0, cost, 0});
    add(i, {-1, width + y, 0, cost, 0});
  }
  if (std::holds_alternative<NuSvc>(task)) two_sides = true, total = nu * rows;
  if (std::holds_alternative<NuSvr>(task)) two_sides = true, total = nu * cost * rows;
  if (std::holds_alternative<OneClass>(task)) total = nu * rows;
  for (const double sign : {1.0, -1.0}) {
    if (sign < 0 && !two_sides) break;
    auto& row = qp.A.emplace_back();
    for (const Block& block : qp.block)
      row.push_back(!two_sides || block.sign == sign ? block.sign : 0);
    qp.d.push_back(two_sides ? sign * total / 2 : total);
  }
  for (std::size_t r = 0; r < count; ++r) {
    auto& row = qp.A.emplace_back();
    for (std::size_t v = 0; v < qp.size(); ++v)
      row.push_back(qp.block[v].sign * plain_values(data.x, qp.row[v])[r]);
    qp.d.push_back(0);
  }
  return qp;
}

/// Bias and coefficients as a model has them, from the multipliers of those rows.
std::vector<double> as_in_model(std::vector<double> lambda, const Task& task) {
  if (!std::holds_alternative<NuSvc>(task) && !std::holds_alternative<NuSvr>(task)) return lambda;
  const double half = (lambda[1] - lambda[0]) / 2;
  lambda[1] = (lambda[0] + lambda[1]) / 2;
  lambda.erase(lambda.begin());
  if (std::holds_alternative<NuSvc>(task))
    for (double& value : lambda) value /= half;
  return lambda;
}

TEST(SemiParametric, EveryTaskHasTheOptimumOfADenseReference) {
  for (const Task& task : all_tasks())
    for (std::size_t count = 0; count <= 3; ++count) {
      const Dataset data = made_data(24, outcome_of(task));
      const DualQp qp = stated(data, task, count);
      const reference::Optimum expected = reference::dense_optimum(qp);
      const std::vector<double> lambda = as_in_model(expected.lambda, task);
      for (const std::string solver : {"auto", "primal-dual", "interior-point"}) {
        SCOPED_TRACE(std::string(name_of(task)) + ", " + std::to_string(count) + ", " + solver);
        TrainOptions options = options_for(task, count);
        options.solver = solver;
        const Trained trained = train(made::copy_of(data), options, Threads(1));
        EXPECT_EQ(trained.ended, Ended::converged);
        const double size = 1e-8 * std::max(1.0, std::abs(expected.dual));
        EXPECT_NEAR(trained.certificate.dual, expected.dual, size);
        EXPECT_NEAR(trained.certificate.primal, expected.dual, size);
        EXPECT_LE(trained.certificate.equality_residual, 1e-9);
        const std::vector<double>& found = trained.model.machines[0].lambda;
        ASSERT_EQ(found.size(), lambda.size());
        for (std::size_t r = 1; r < lambda.size(); ++r) EXPECT_NEAR(found[r], lambda[r], 1e-5);
      }
    }
}

/// The primal of a model by its definition, with bias and coefficients as given.
class Primal {
 public:
  Primal(const Dataset& data, const Task& task, const Model& model, std::size_t count)
      : data_(data), task_(task), machine_(model.machines[0]), count_(count) {
    const double scale = std::holds_alternative<NuSvc>(task) ? machine_.width : 1;
    g_.assign(data.rows(), 0.0);
    for (std::size_t k = 0; k < machine_.support.size(); ++k) {
      const std::size_t row = model.support_row[machine_.support[k]];
      for (std::size_t i = 0; i < data.rows(); ++i)
        g_[i] += scale * machine_.coefficient[k] * naive_value(kernel, data.x, row, data.x, i);
    }
    for (std::size_t k = 0; k < machine_.support.size(); ++k)
      half_norm_ +=
          scale * machine_.coefficient[k] * g_[model.support_row[machine_.support[k]]] / 2;
    lambda = machine_.lambda;
    for (double& value : lambda) value *= scale;
  }

  double operator()(const std::vector<double>& at, double width) const {
    double sum = half_norm_;
    const double rows = static_cast<double>(data_.rows());
    for (std::size_t i = 0; i < data_.rows(); ++i) {
      double f = g_[i] + at[0];
      const std::vector<double> phi = plain_values(data_.x, i);
      for (std::size_t r = 0; r < count_; ++r) f += at[r + 1] * phi[r];
      const double y = data_.y.empty() ? 1 : data_.y[i];
      if (std::holds_alternative<Svc>(task_)) sum += cost * std::max(0.0, 1 - y * f);
      if (std::holds_alternative<NuSvc>(task_)) sum += std::max(0.0, width - y * f);
      if (std::holds_alternative<OneClass>(task_)) sum += std::max(0.0, -f);
      if (std::holds_alternative<Svr>(task_))
        sum += cost * std::max(0.0, std::abs(y - f) - epsilon);
      if (std::holds_alternative<NuSvr>(task_))
        sum += cost * std::max(0.0, std::abs(y - f) - width);
    }
    if (std::holds_alternative<NuSvc>(task_)) sum -= nu * rows * width;
    if (std::holds_alternative<OneClass>(task_)) sum += nu * rows * at[0];
    if (std::holds_alternative<NuSvr>(task_)) sum += nu * cost * rows * width;
    return sum;
  }

  std::vector<double> lambda;

 private:
  const Dataset& data_;
  const Task& task_;
  const Machine& machine_;
  std::size_t count_;
  std::vector<double> g_;
  double half_norm_ = 0;
};

TEST(SemiParametric, NoStepOfBiasCoefficientsOrWidthLowersThePrimal) {
  for (const Task& task : all_tasks()) {
    SCOPED_TRACE(name_of(task));
    const Dataset data = made_data(40, outcome_of(task), 5);
    const Trained trained = train(made::copy_of(data), options_for(task, 3), Threads(1));
    const Primal primal(data, task, trained.model, 3);
    const double width = trained.model.machines[0].width, least = primal(primal.lambda, width);
    EXPECT_NEAR(least, trained.certificate.primal, 1e-7 * std::abs(least));
    for (const double step : {1e-1, 1e-3, -1e-3, -1e-1}) {
      for (std::size_t r = 0; r < primal.lambda.size(); ++r) {
        std::vector<double> moved = primal.lambda;
        moved[r] += step;
        EXPECT_GE(primal(moved, width), least - 1e-8 * std::abs(least)) << r << ", " << step;
      }
      if (width > 0) {
        EXPECT_GE(primal(primal.lambda, width + step), least - 1e-8 * std::abs(least));
      }
    }
  }
}

TEST(SemiParametric, CoefficientsOfMadeDataAreRecovered) {
  Rng rng(6);
  Dataset data;
  data.x = Features::dense(1);
  for (std::size_t i = 0; i < 300; ++i) {
    const double x = rng.uniform(0, 10);
    data.x.append(std::vector<double>{x});
    data.y.push_back(5 - 2 * std::sin(x) + 0.75 * std::cos(3 * x) + 0.05 * rng.normal());
  }
  TrainOptions options;
  options.kernel = Rbf{.gamma = 0.25};
  options.functions = {formula("sin(x1)"), formula("cos(3*x1)")};
  for (const Task& task : {Task(Svr{.cost = 0.05, .loss = EpsilonInsensitive{0.05}}),
                           Task(NuSvr{.cost = 0.05, .nu = 0.5})}) {
    options.task = task;
    const Model model = train(made::copy_of(data), options, Threads(1)).model;
    EXPECT_NEAR(model.machines[0].lambda.at(1), -2, 0.05);
    EXPECT_NEAR(model.machines[0].lambda.at(2), 0.75, 0.05);
  }
}

TEST(SemiParametric, NuBoundsTheErrorsAndTheSupportVectors) {
  for (const Task& task :
       {Task(NuSvc{.nu = nu}), Task(NuSvr{.cost = cost, .nu = nu}), Task(OneClass{.nu = nu})}) {
    SCOPED_TRACE(name_of(task));
    const Dataset data = made_data(80, outcome_of(task), 7);
    const Trained trained = train(made::copy_of(data), options_for(task, 3, 1e-7), Threads(1));
    ASSERT_EQ(trained.ended, Ended::converged);
    const Machine& machine = trained.model.machines[0];
    const std::vector<double> f = Predictor(trained.model).decision_values(data.x, Threads(1));
    double errors = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      const double y = data.y.empty() ? 1 : data.y[i];
      const double beyond = outcome_of(task) == Outcome::classes ? 1 - y * f[i]
                            : outcome_of(task) == Outcome::number
                                ? std::abs(y - f[i]) - machine.width
                                : -f[i];
      errors += beyond > 1e-5;
    }
    EXPECT_LE(errors, nu * 80);
    EXPECT_GE(static_cast<double>(machine.support.size()), nu * 80);
  }
}

TEST(SemiParametric, ColumnsAreHiddenFromTheKernelAndPlainRowsStayApart) {
  // The kernel sees the first feature alone, in which rows come in pairs that are equal; only the
  // second, whose coefficient is 3, tells them apart.
  Rng rng(8);
  Dataset data;
  data.x = Features::dense(2);
  for (std::size_t i = 0; i < 60; ++i) {
    const double x = static_cast<double>(i / 2) / 10, z = rng.normal();
    data.x.append(std::vector<double>{x, z});
    data.y.push_back(std::sin(x) + 3 * z);
  }
  data.feature_names = {"x", "level"};
  for (const std::optional<ScalingKind> scaling :
       {std::optional<ScalingKind>(), std::optional(ScalingKind::deviation)}) {
    TrainOptions options;
    options.task = Svr{.cost = 10, .loss = EpsilonInsensitive{0.01}};
    options.kernel = kernel;
    options.scaling = scaling;
    options.functions = {{ParametricFunction::Kind::column, "level", {}}};
    const Model model = train(made::copy_of(data), options, Threads(1)).model;
    EXPECT_NEAR(model.machines[0].lambda.at(1), 3, 0.02);
    for (std::size_t k = 0; k < model.support.count(); ++k)
      EXPECT_EQ(model.support.view().value(2 * k + 1), 0);
    const Predictor predictor(model);
    const std::vector<double> f = predictor.decision_values(predictor.prepared(data.x), Threads(1));
    for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], data.y[i], 0.1);
    for (const Verified& machine : verify(model, data, Threads(1)))
      EXPECT_TRUE(machine.holds) << machine.reason;
  }
}

TEST(SemiParametric, CertificatesHoldAndChangedCoefficientsDoNot) {
  for (const Task& task : all_tasks()) {
    SCOPED_TRACE(name_of(task));
    Dataset data = made_data(50, outcome_of(task), 9);
    data.weight = made::weights(50, 3);
    TrainOptions options = options_for(task, 2, 1e-4);
    options.scaling = ScalingKind::range;
    const Trained trained = train(made::copy_of(data), options, Threads(2));
    EXPECT_EQ(trained.ended, Ended::converged);
    Model model = copied(trained.model);
    EXPECT_EQ(digest(model), digest(trained.model));
    EXPECT_EQ(to_bytes(model), to_bytes(trained.model));
    EXPECT_TRUE(verify(model, data, Threads(1))[0].holds)
        << verify(model, data, Threads(1))[0].reason;
    model.machines[0].lambda[2] += 0.05;
    EXPECT_FALSE(verify(model, data, Threads(1))[0].holds);
  }
}

TEST(SemiParametric, FunctionsMayBeWrittenInTheProgram) {
  const Dataset data = made_data(40, Outcome::number);
  TrainOptions options =
      options_for(Svr{.cost = cost, .loss = EpsilonInsensitive{epsilon}}, 2, 1e-6);
  const Model written = train(made::copy_of(data), options, Threads(1)).model;
  const auto product = [](std::span<const double> x) { return x[0] * x[1]; };
  options.functions[1] = {ParametricFunction::Kind::own, "product", product};
  const Model own = train(made::copy_of(data), options, Threads(2)).model;
  EXPECT_EQ(own.machines[0].lambda, written.machines[0].lambda);
  EXPECT_EQ(Predictor(own).decision_values(data.x, Threads(1)),
            Predictor(written).decision_values(data.x, Threads(1)));

  Model loaded = copied(own);
  EXPECT_THROW(Predictor(loaded).decision_values(data.x, Threads(1)), Error);
  loaded.functions[1].function = product;
  EXPECT_EQ(Predictor(loaded).decision_values(data.x, Threads(1)),
            Predictor(own).decision_values(data.x, Threads(1)));
}

TEST(SemiParametric, FoldsKnowTheFunctions) {
  const Dataset data = made_data(120, Outcome::number, 10);
  TrainOptions options =
      options_for(Svr{.cost = 0.1, .loss = EpsilonInsensitive{epsilon}}, 3, 1e-3);
  const double with =
      cross_validate(made::copy_of(data), options, 4, Threads(1)).mean_squared_error;
  options.functions.clear();
  const double without =
      cross_validate(made::copy_of(data), options, 4, Threads(1)).mean_squared_error;
  EXPECT_LT(with, 0.6 * without);
}

TEST(SemiParametric, BiasMayBePenalisedOrAbsent) {
  const Dataset data = made_data(40, Outcome::classes, 11);
  for (const Bias bias : {Bias::penalised, Bias::none}) {
    TrainOptions options = options_for(Svc{.cost = cost, .bias = bias}, 2, 1e-8);
    const Trained trained = train(made::copy_of(data), options, Threads(1));
    EXPECT_EQ(trained.ended, Ended::converged);
    const Machine& machine = trained.model.machines[0];
    ASSERT_EQ(machine.lambda.size(), 3u);
    double sum = 0;
    for (const double coefficient : machine.coefficient) sum += coefficient;
    EXPECT_NEAR(machine.lambda[0], bias == Bias::none ? 0 : sum, 1e-9);
    EXPECT_TRUE(verify(trained.model, data, Threads(1))[0].holds);
  }
}

/// Classes that x1 and the kernel part together tell apart, with some room between.
Dataset separable(std::size_t rows) {
  Rng rng(12);
  Dataset data;
  data.x = Features::dense(2);
  while (data.y.size() < rows) {
    const double x = rng.normal(), z = rng.normal();
    const double level = 2 * x + std::sin(3 * z);
    if (std::abs(level) < 0.3) continue;
    data.x.append(std::vector<double>{x, z});
    data.y.push_back(level > 0 ? 1 : -1);
  }
  return data;
}

TEST(SemiParametric, HardMarginsAreThoseOfVeryLargeCosts) {
  const Dataset data = separable(60);
  for (const Bias bias : {Bias::unpenalised, Bias::none})
    for (const std::string solver : {"auto", "primal-dual", "interior-point"}) {
      SCOPED_TRACE(solver + ", bias " + std::to_string(static_cast<int>(bias)));
      TrainOptions options = options_for(Svc{.cost = 1e7, .bias = bias}, 0, 1e-6);
      options.functions = {formula("x1"), formula("x1^2")};
      options.solver = "interior-point";
      const Trained large = train(made::copy_of(data), options, Threads(1));
      options.task = Svc{.hard_margin = true, .bias = bias};
      options.solver = solver;
      const Trained hard = train(made::copy_of(data), options, Threads(1));
      EXPECT_EQ(hard.ended, Ended::converged);
      EXPECT_NEAR(hard.certificate.dual, large.certificate.dual, 1e-5 * large.certificate.dual);
      EXPECT_NEAR(hard.certificate.primal, hard.certificate.dual, 1e-5 * hard.certificate.dual);
      EXPECT_TRUE(verify(copied(hard.model), data, Threads(1))[0].holds)
          << verify(hard.model, data, Threads(1))[0].reason;
      const auto f = Predictor(hard.model).decision_values(data.x, Threads(1));
      for (std::size_t i = 0; i < f.size(); ++i) EXPECT_GT(data.y[i] * f[i], 0.999);
    }
}

TEST(SemiParametric, HardMarginsOfFunctionsAloneCostNothing) {
  Dataset data = separable(40);
  for (std::size_t i = 0; i < 40; ++i)
    data.y[i] = data.x.view().value(2 * i) > 0.1 ? 1 : -1;  // by x1, which is a function
  TrainOptions options = options_for(Svc{.hard_margin = true}, 0, 1e-6);
  options.functions = {formula("x1")};
  const Trained trained = train(made::copy_of(data), options, Threads(1));
  EXPECT_EQ(trained.ended, Ended::converged);
  EXPECT_NEAR(trained.certificate.primal, 0, 1e-9);
  EXPECT_GT(trained.model.machines[0].lambda.at(1), 0);
  // And where nothing tells the classes apart, the run says so.
  data.x = Features::dense(2);
  for (std::size_t i = 0; i < 40; ++i)
    data.x.append(std::vector<double>{static_cast<double>(i / 2), 1});
  for (std::size_t i = 0; i < 40; ++i) data.y[i] = i % 2 ? 1 : -1;
  for (const std::string solver : {"auto", "primal-dual", "interior-point"}) {
    options.solver = solver;
    EXPECT_EQ(train(made::copy_of(data), options, Threads(1)).ended, Ended::unbounded) << solver;
  }
}

/// The kernel's values in the place of the features, and behind them the first two functions.
Dataset as_matrix(const Dataset& data, const Dataset& of) {
  Dataset matrix;
  matrix.x = Features::dense(data.rows() + 2);
  matrix.y = of.y;
  for (std::size_t i = 0; i < of.rows(); ++i) {
    std::vector<double> row;
    for (std::size_t j = 0; j < data.rows(); ++j)
      row.push_back(naive_value(kernel, of.x, i, data.x, j));
    const std::vector<double> phi = plain_values(of.x, i);
    row.insert(row.end(), {phi[0], phi[1]});
    matrix.x.append(row);
  }
  return matrix;
}

TEST(SemiParametric, PrecomputedKernelsHaveFunctionsBehindTheirValues) {
  const Dataset data = made_data(40, Outcome::number), test = made_data(10, Outcome::number, 13);
  const Dataset matrix = as_matrix(data, data);
  TrainOptions options =
      options_for(Svr{.cost = cost, .loss = EpsilonInsensitive{epsilon}}, 2, 1e-7);
  const Model plain = train(made::copy_of(data), options, Threads(1)).model;
  options.kernel = Precomputed{};
  options.functions = {{ParametricFunction::Kind::column, "41", {}}, formula("x42 + 0*x41")};
  const Model model = copied(train(made::copy_of(matrix), options, Threads(1)).model);
  for (std::size_t r = 0; r < 3; ++r)
    EXPECT_NEAR(model.machines[0].lambda.at(r), plain.machines[0].lambda.at(r), 1e-5);
  EXPECT_TRUE(verify(model, matrix, Threads(1))[0].holds)
      << verify(model, matrix, Threads(1))[0].reason;
  const auto expected = Predictor(plain).decision_values(test.x, Threads(1));
  const Predictor predictor(model);
  const Dataset rows = as_matrix(data, test);
  const auto found = predictor.decision_values(predictor.prepared(rows.x), Threads(1));
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);

  options.functions = {formula("x3 + x41")};
  EXPECT_THROW(train(made::copy_of(matrix), options, Threads(1)), Error);
}

}  // namespace
}  // namespace maxmargin::semi_parametric_test
