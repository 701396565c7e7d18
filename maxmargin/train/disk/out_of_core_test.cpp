#include "maxmargin/train/disk/out_of_core.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/disk/disk_basis.hpp"
#include "tests/made_data.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::out_of_core_test {
namespace {

constexpr std::size_t enough = std::size_t{256} << 20;

/// A data set as LIBSVM text in a file that goes with the test.
class OutOfCoreTest : public testing::Test {
 protected:
  std::string write(const Dataset& data, const std::vector<std::string>& names = {}) const {
    const std::string path = folder_ + "/data.svm";
    std::ofstream out(path);
    const Rows rows = data.x;
    for (std::size_t i = 0; i < rows.count; ++i) {
      out << (names.empty() ? shortest(data.y[i]) : names[static_cast<std::size_t>(data.y[i])]);
      rows.for_each(i,
                    [&](Index j, double value) { out << ' ' << j + 1 << ':' << shortest(value); });
      out << '\n';
    }
    if (!data.weight.empty()) {
      std::ofstream weights(folder_ + "/weights");
      for (const double weight : data.weight) weights << shortest(weight) << '\n';
    }
    return path;
  }
  SpilledData spilled(const std::string& path, Outcome outcome, ReadOptions reading = {}) const {
    reading.block_bytes = 5000;
    return spill(path, reading, outcome, {folder_, enough}, threads_);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
  Threads threads_{2};
};

TrainOptions linear(const Task& task) {
  TrainOptions options;
  options.task = task;
  options.kernel = Linear{};
  options.stop.kkt = options.stop.relative_gap = 1e-11;
  options.solver = "interior-point";
  return options;
}

/// The same objectives, decision values and labels as from the same rows in memory, and a model
/// that can be verified.
void expect_equal(const std::string& path, const ReadOptions& reading, const SpilledData& data,
                  const TrainOptions& options, const Context& context) {
  const Threads& threads = context.threads;
  const TrainedOutOfCore streamed = train(data, options, context);
  const Trained whole = train(read(path, reading, threads), options, threads);
  EXPECT_EQ(streamed.trained.ended, Ended::converged);
  EXPECT_EQ(streamed.trained.model.data_hash, whole.model.data_hash);
  EXPECT_EQ(streamed.trained.model.classes, whole.model.classes);
  ASSERT_EQ(streamed.trained.model.machines.size(), whole.model.machines.size());
  for (std::size_t m = 0; m < whole.model.machines.size(); ++m) {
    const Machine& one = streamed.trained.model.machines[m];
    const Machine& other = whole.model.machines[m];
    EXPECT_EQ(one.positive, other.positive);
    EXPECT_EQ(one.negative, other.negative);
    // Bounds of the same sums, by what these may be wrong by in different orders.
    EXPECT_NEAR(one.certificate.primal, other.certificate.primal, 1e-9 * other.certificate.primal);
    EXPECT_NEAR(one.bias(), other.bias(), 1e-10);
  }
  const Model loaded =
      from_bytes(std::as_bytes(std::span<const char>(to_bytes(streamed.trained.model))), "model");
  const Dataset again = read(path, reading, threads);
  for (const Verified& machine : verify(loaded, again, threads)) {
    EXPECT_TRUE(machine.holds) << machine.reason;
    EXPECT_TRUE(machine.primal_only);
  }
  const Rows rows = again.x;
  const auto values = [&](const Model& model) {
    const Predictor predictor(model);
    return predictor.decision_values(predictor.prepared(rows), threads, Precision::exact);
  };
  const auto have = values(loaded), want = values(whole.model);
  ASSERT_EQ(have.size(), want.size());
  for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(have[k], want[k], 1e-9);
}

TEST_F(OutOfCoreTest, TwoClasses) {
  const std::string path = write(made::classification(700, 6, made::Storage::sparse, 1));
  expect_equal(path, {}, spilled(path, Outcome::classes), linear(Svc{}), threads_);
}

TEST_F(OutOfCoreTest, TheSameOptimumWithFewerRowsInMemory) {
  const std::string path = write(made::classification(700, 6, made::Storage::sparse, 1));
  const SpilledData data = spilled(path, Outcome::classes);
  CostModel costs;
  costs.streamed = {.working_rows = 1, .working_rows_a_feature = 1, .rows_a_working_row = 700};
  const Context few = Context(threads_).with_costs(costs);
  expect_equal(path, {}, data, linear(Svc{}), few);
  EXPECT_NE(train(data, linear(Svc{}), few).trained.model.machines[0].iterations,
            train(data, linear(Svc{}), threads_).trained.model.machines[0].iterations);
}

TEST_F(OutOfCoreTest, SeveralClassesThatAreWordsWithWeights) {
  Dataset made_data = made::classification(500, 4, made::Storage::dense_doubles, 2, 3);
  for (double& label : made_data.y) label -= 1;
  Rng rng(1);
  for (std::size_t i = 0; i < made_data.rows(); ++i)
    made_data.weight.push_back(i % 7 == 0 ? 0 : rng.uniform(0.5, 2));
  const std::string path = write(made_data, {"zebra", "7", "ant"});
  ReadOptions reading;
  reading.weight_file = folder_ + "/weights";
  const SpilledData data = spilled(path, Outcome::classes, reading);
  Svc task;
  task.class_weights = {{"ant", 3}};
  task.bias = Bias::penalised;
  expect_equal(path, reading, data, linear(task), threads_);
  task.multiclass = Multiclass::one_vs_rest;
  expect_equal(path, reading, data, linear(task), threads_);
}

TEST_F(OutOfCoreTest, Regression) {
  const std::string path = write(made::regression(600, 5, made::Storage::dense_doubles, 3));
  Svr task;
  expect_equal(path, {}, spilled(path, Outcome::number), linear(task), threads_);
  task.loss = Huber{0.1};
  expect_equal(path, {}, spilled(path, Outcome::number), linear(task), threads_);
}

TEST_F(OutOfCoreTest, ScalesAsInMemory) {
  const std::string path = write(made::regression(500, 4, made::Storage::dense_doubles, 5));
  for (const ScalingKind kind :
       {ScalingKind::range, ScalingKind::unit, ScalingKind::deviation, ScalingKind::maximum}) {
    TrainOptions options = linear(Svr{});
    options.scaling = kind;
    expect_equal(path, {}, spilled(path, Outcome::number), options, threads_);
  }
}

TrainOptions with_functions(const Task& task) {
  TrainOptions options = linear(task);
  options.functions = {{ParametricFunction::Kind::expression, "sin(3*x1)", {}},
                       {ParametricFunction::Kind::expression, "1e6*x2^2 + 1e6", {}},
                       {ParametricFunction::Kind::column, "3", {}}};
  return options;
}

TEST_F(OutOfCoreTest, FunctionsBesideAsInMemory) {
  const std::string numbers = write(made::regression(500, 5, made::Storage::dense_doubles, 3));
  for (const Bias bias : {Bias::unpenalised, Bias::penalised, Bias::none})
    for (const ErrorLoss& loss :
         {ErrorLoss(EpsilonInsensitive{0.1}), ErrorLoss(Huber{0.1}), ErrorLoss(Squared{})}) {
      SCOPED_TRACE(std::to_string(loss.index()) + " " + std::to_string(static_cast<int>(bias)));
      Svr task;
      task.bias = bias;
      task.loss = loss;
      const TrainOptions options = with_functions(task);
      expect_equal(numbers, {}, spilled(numbers, Outcome::number), options, threads_);
      const Model streamed =
          train(spilled(numbers, Outcome::number), options, threads_).trained.model;
      const Model whole = train(read(numbers, {}, threads_), options, threads_).model;
      ASSERT_EQ(streamed.machines[0].lambda.size(), 4u);
      for (std::size_t r = 0; r < 4; ++r)
        EXPECT_NEAR(streamed.machines[0].lambda[r], whole.machines[0].lambda[r], 1e-8);
    }
}

TEST_F(OutOfCoreTest, FunctionsOfScaledRowsOfSeveralClasses) {
  const std::string path = write(made::classification(600, 4, made::Storage::dense_doubles, 2, 3));
  TrainOptions options = with_functions(Svc{});
  options.scaling = ScalingKind::range;
  expect_equal(path, {}, spilled(path, Outcome::classes), options, threads_);
  const TrainedOutOfCore two = train(spilled(path, Outcome::classes), options, threads_);
  const TrainedOutOfCore one = train(spilled(path, Outcome::classes), options, Threads(1));
  EXPECT_EQ(to_bytes(one.trained.model), to_bytes(two.trained.model));
}

TEST_F(OutOfCoreTest, FunctionsBesideBasisFunctions) {
  const std::string path = write(made::classification(400, 3, made::Storage::dense_doubles, 6));
  TrainOptions options = with_functions(Svc{});
  options.kernel = Rbf{0.5};
  options.approximate = Approximate{Selection::random, 25, 0, 10, 0};
  const TrainedOutOfCore found = train(spilled(path, Outcome::classes), options, threads_);
  const Trained whole = train(read(path, {}, threads_), options, threads_);
  EXPECT_EQ(found.trained.ended, Ended::converged);
  EXPECT_EQ(found.trained.model.support_row, whole.model.support_row);
  EXPECT_NEAR(found.trained.certificate.primal, whole.certificate.primal,
              1e-7 * whole.certificate.primal);
  EXPECT_LE(found.trained.certificate.relative_gap, 1e-9);
  const Dataset again = read(path, {}, threads_);
  for (const Verified& machine : verify(found.trained.model, again, threads_))
    EXPECT_TRUE(machine.holds) << machine.reason;
}

TEST_F(OutOfCoreTest, RefusesFunctionsAsInMemory) {
  const std::string path = write(made::classification(60, 4, made::Storage::dense_doubles, 2, 3));
  const auto message = [&](const std::vector<std::string>& texts, bool disk) -> std::string {
    TrainOptions options = linear(Svc{});
    for (const std::string& text : texts)
      options.functions.push_back({ParametricFunction::Kind::expression, text, {}});
    try {
      if (disk)
        train(spilled(path, Outcome::classes), options, threads_);
      else
        train(read(path, {}, threads_), options, threads_);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  for (const std::vector<std::string>& texts : {std::vector<std::string>{"x1 - x1"},
                                                {"x1", "x2", "2*x1 + x2 - 3"},
                                                {"1/0"},
                                                {"log(x1 - 100)"},
                                                {"x9"},
                                                {"x1 +"}}) {
    EXPECT_NE(message(texts, true), "no error");
    EXPECT_EQ(message(texts, true), message(texts, false));
  }
  TrainOptions options = with_functions(Svc{});
  options.solver = "lagrangian";
  EXPECT_TRUE(refuses_out_of_core(options).has_value());
}

TEST_F(OutOfCoreTest, LagrangianFindsTheSameOptimum) {
  const std::string numbers = write(made::regression(600, 5, made::Storage::dense_doubles, 3));
  for (const Bias bias : {Bias::penalised, Bias::none}) {
    Svr task;
    task.loss = SquaredEpsilonInsensitive{0.1};
    task.bias = bias;
    TrainOptions options = linear(task);
    options.solver = "lagrangian";
    options.stop.kkt = options.stop.relative_gap = 1e-7;
    const TrainedOutOfCore found = train(spilled(numbers, Outcome::number), options, threads_);
    EXPECT_EQ(found.trained.ended, Ended::converged);
    EXPECT_EQ(found.trained.solver, "lagrangian");
    const Trained whole = train(read(numbers, {}, threads_), options, threads_);
    EXPECT_NEAR(found.trained.certificate.primal, whole.certificate.primal,
                2e-7 * whole.certificate.primal);
    // The same bits with one thread.
    const TrainedOutOfCore again = train(spilled(numbers, Outcome::number), options, Threads(1));
    EXPECT_EQ(to_bytes(again.trained.model), to_bytes(found.trained.model));
  }
  TrainOptions free = linear(Svr{});
  free.solver = "lagrangian";
  EXPECT_THROW(train(spilled(numbers, Outcome::number), free, threads_), Error);
}

TEST_F(OutOfCoreTest, LagrangianIsNotThrownFarAway) {
  Dataset data;
  data.x = Features::dense(8);
  Rng rng(4);
  for (int i = 0; i < 600; ++i) {
    std::vector<double> x;
    for (int j = 0; j < 8; ++j) x.push_back(rng.uniform(0, 30));
    data.y.push_back(x[0] + x[1] - x[2] - x[3] + 6 * rng.normal() > 0 ? 1 : -1);
    data.x.append(std::span<const double>(x));
  }
  const std::string path = write(data);
  TrainOptions options = linear(Svc{.loss = SquaredHinge{}, .bias = Bias::penalised});
  const Trained whole = train(read(path, {}, threads_), options, threads_);
  options.solver = "lagrangian";
  options.stop.kkt = options.stop.relative_gap = 1e-7;
  const TrainedOutOfCore found = train(spilled(path, Outcome::classes), options, threads_);
  EXPECT_EQ(found.trained.ended, Ended::converged);
  EXPECT_NEAR(found.trained.certificate.primal, whole.certificate.primal,
              2e-7 * whole.certificate.primal);
}

/// A kernel by basis functions, with K_mn on disk: as from the same basis functions in memory.
TEST_F(OutOfCoreTest, KernelsByBasisFunctions) {
  const std::string path = write(made::classification(400, 3, made::Storage::dense_doubles, 6, 3));
  for (const Selection selection : {Selection::random, Selection::pivoted, Selection::sgma}) {
    TrainOptions options = linear(Svc{});
    options.kernel = Rbf{0.5};
    options.approximate = Approximate{selection, 25, 0, 10, 0};
    options.seed = 3;
    const TrainedOutOfCore found = train(spilled(path, Outcome::classes), options, threads_);
    const Trained whole = train(read(path, {}, threads_), options, threads_);
    EXPECT_EQ(found.trained.ended, Ended::converged);
    EXPECT_EQ(found.trained.rank, 25u);
    EXPECT_EQ(found.trained.model.support_row, whole.model.support_row);
    EXPECT_NEAR(found.trained.residual, whole.residual, 1e-9);
    EXPECT_NEAR(found.trained.certificate.primal, whole.certificate.primal,
                1e-7 * whole.certificate.primal);
    const Dataset again = read(path, {}, threads_);
    const auto have =
        Predictor(found.trained.model).decision_values(again.x, threads_, Precision::exact);
    const auto want = Predictor(whole.model).decision_values(again.x, threads_, Precision::exact);
    for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(have[k], want[k], 1e-5);
    for (const Model* model : {&found.trained.model, &whole.model}) {
      const Model loaded =
          from_bytes(std::as_bytes(std::span<const char>(to_bytes(*model))), "model");
      for (const Verified& machine : verify(loaded, again, threads_))
        EXPECT_TRUE(machine.holds) << machine.reason;
    }
    const TrainedOutOfCore one = train(spilled(path, Outcome::classes), options, Threads(1));
    EXPECT_EQ(to_bytes(one.trained.model), to_bytes(found.trained.model));
  }
}

// With little memory the basis is chosen among some of the rows; the machine is that of all.
TEST_F(OutOfCoreTest, BasisFunctionsOfASample) {
  const Dataset data = made::regression(3000, 2, made::Storage::dense_doubles, 7);
  const std::string path = write(data);
  RowFile rows(folder_, 1 << 16);
  rows.append(data.x, data.y, {});
  rows.finish();
  Approximate how;
  how.rank = 40;
  how.candidates = 5;
  const auto basis =
      approximate_on_disk(rows, Rbf{2}, how, {folder_, 1 << 16, 200 * 400}, threads_);
  ASSERT_TRUE(basis.has_value());
  EXPECT_EQ(basis->rows->rows(), data.rows());
  ASSERT_EQ(basis->factor.Z->points(), 40u);
  EXPECT_EQ(basis->rows->columns(), 40u);
  EXPECT_GT(basis->row.back() + basis->row.front(), 0u);
  EXPECT_LT(basis->residual, 0.05);
  // A wide kernel has fewer functions than these before rounding is all that is left.
  const auto wide =
      approximate_on_disk(rows, Rbf{0.5}, how, {folder_, 1 << 16, 200 * 400}, threads_);
  ASSERT_TRUE(wide.has_value());
  EXPECT_LT(wide->row.size(), 40u);
  EXPECT_EQ(wide->rows->columns(), wide->row.size());
  EXPECT_LT(wide->residual, 1e-6);
  // Z Z' is the kernel at the basis functions.
  for (std::size_t j = 0; j < 40; ++j) {
    double square = 0;
    for (std::size_t k = 0; k <= j; ++k) square += std::pow(basis->factor.Z->row(j)[k], 2);
    EXPECT_NEAR(square, 1, 1e-9);
  }
}

std::string message_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(OutOfCoreTest, TheLeastMemoryIsEnough) {
  const std::string path = write(made::classification(3000, 120, made::Storage::dense_doubles, 4));
  SpilledData data = spilled(path, Outcome::classes);
  data.memory_bytes = least_memory_out_of_core(120);
  TrainOptions options = linear(Svc{});
  options.stop.kkt = options.stop.relative_gap = 1e-9;
  EXPECT_EQ(train(data, options, threads_).trained.ended, Ended::converged);
  // Two numbers a row are not in the least.
  options.solver = "lagrangian";
  std::get<Svc>(options.task).loss = SquaredHinge{};
  std::get<Svc>(options.task).bias = Bias::penalised;
  data.memory_bytes = program_bytes_out_of_core + 1;
  EXPECT_NE(message_of([&] { train(data, options, threads_); }).find("3000 rows"),
            std::string::npos);
}

TEST_F(OutOfCoreTest, TooLittleMemorySaysHowMuch) {
  const std::string path = write(made::classification(50, 6, made::Storage::sparse, 1));
  const auto with = [&](std::size_t bytes) {
    return message_of([&] { spill(path, {}, Outcome::classes, {folder_, bytes}, threads_); });
  };
  const std::string message = with(1 << 20);
  const std::string needed = std::to_string((least_memory_out_of_core(6) >> 20) + 1) + "M";
  EXPECT_NE(message.find("give --memory " + needed), std::string::npos) << message;
  EXPECT_EQ(with(least_memory_out_of_core(6)), "no error");
  EXPECT_EQ(temporary_.files(), 1u);
}

TEST_F(OutOfCoreTest, SaysWhatItCannotDo) {
  const auto reason = [](const auto& change) {
    TrainOptions options = linear(Svc{});
    change(options);
    return refuses_out_of_core(options).value_or("");
  };
  EXPECT_EQ(reason([](TrainOptions&) {}), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.kernel = Rbf{}; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.task = OneClass{}; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.solver = "smo"; }), "");
  EXPECT_EQ(reason([](TrainOptions& o) { o.scaling = ScalingKind::range; }), "");
  EXPECT_NE(reason([](TrainOptions& o) { o.approximate = Approximate{}; }), "");
  EXPECT_EQ(reason([](TrainOptions& o) {
              o.kernel = Rbf{};
              o.approximate = Approximate{};
            }),
            "");
  EXPECT_NE(reason([](TrainOptions& o) {
              o.kernel = Sigmoid{};
              o.approximate = Approximate{};
            }),
            "");
  EXPECT_NE(reason([](TrainOptions& o) { std::get<Svc>(o.task).hard_margin = true; }), "");
}

TEST_F(OutOfCoreTest, BadData) {
  const auto message = [&](const std::string& text, Outcome outcome, const TrainOptions& options) {
    const std::string path = folder_ + "/bad.svm";
    std::ofstream(path) << text;
    return message_of([&] { train(spilled(path, outcome), options, threads_); });
  };
  EXPECT_NE(message("1 1:1\n1 1:2\n", Outcome::classes, linear(Svc{})).find("only one class"),
            std::string::npos);
  EXPECT_NE(message("1 1:1\n1 1:x\n", Outcome::classes, linear(Svc{})).find("bad.svm:2:"),
            std::string::npos);
  EXPECT_NE(message("1 1:1\nred 1:2\n", Outcome::number, linear(Svr{})).find("'"),
            std::string::npos);
}

}  // namespace
}  // namespace maxmargin::out_of_core_test
