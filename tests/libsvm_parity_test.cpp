// LIBSVM (Debian's libsvm-tools) as an independent witness: the same objective to 1e-6 and the same
// predictions, on data made here and, where the folder is there, on public data sets.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"
#include "tests/paths.hpp"

namespace maxmargin::libsvm_parity_test {
namespace {

namespace fs = std::filesystem;
using made::Storage;

std::string run_and_read(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  char piece[4096];
  for (std::size_t n; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) output.append(piece, n);
  return pclose(pipe) == 0 ? output : std::string{};
}

/// With `serial`, as LIBSVM's precomputed kernel wants it: index 0 holds the number of the row.
void write_libsvm(const Dataset& data, const fs::path& path, bool serial) {
  std::ofstream out(path);
  const Rows x = data.x;
  for (std::size_t i = 0; i < x.count; ++i) {
    out << (data.labelled() ? shortest(data.y[i]) : "1");
    if (serial) out << " 0:" << i + 1;
    x.for_each(i, [&](Index feature, double value) {
      if (value != 0 || serial) out << ' ' << feature + 1 << ':' << shortest(value);
    });
    out << '\n';
  }
}

/// One problem as both programs see it.
struct Comparison {
  Dataset train, test;
  TrainOptions options;
  std::string libsvm_options;  ///< -s -t and so on
  double tolerance = 1e-5, gap = 1e-6;
  double precision = 1e-6;  ///< of the objective: a bound of it says no more than the gap
};

struct Witness {
  double objective = 0;             ///< summed over the binary problems
  std::vector<double> predictions;  ///< of the test rows
};

Witness ask_libsvm(const Comparison& problem) {
  const auto* running = testing::UnitTest::GetInstance()->current_test_info();
  std::string unique =
      std::string("maxmargin_") + running->test_suite_name() + "_" + running->name();
  for (char& c : unique)
    if (c == '/') c = '_';
  const fs::path folder = fs::path(testing::TempDir()) / unique;
  fs::create_directories(folder);
  const std::string train = folder / "train", test = folder / "test", model = folder / "model",
                    out = folder / "out";
  const bool serial = std::holds_alternative<Precomputed>(problem.options.kernel);
  write_libsvm(problem.train, train, serial);
  write_libsvm(problem.test, test, serial);
  const std::string log = run_and_read("svm-train -m 200 -e " + shortest(problem.tolerance) + " " +
                                       problem.libsvm_options + " '" + train + "' '" + model + "'");
  Witness witness;
  for (std::size_t at = log.find("obj = "); at != std::string::npos;
       at = log.find("obj = ", at + 1))
    witness.objective += std::atof(log.c_str() + at + 6);
  run_and_read("svm-predict '" + test + "' '" + model + "' '" + out + "'");
  std::ifstream in(out);
  for (double value; in >> value;) witness.predictions.push_back(value);
  fs::remove_all(folder);
  return witness;
}

/// Whether a label is beyond doubt: no decision value near 0, and no other class with as many
/// votes.
bool clear_cut(const Model& model, std::span<const double> f) {
  std::vector<int> votes(model.classes.size(), 0);
  for (std::size_t m = 0; m < f.size(); ++m) {
    if (std::abs(f[m]) <= 1e-4) return false;
    if (model.machines[m].negative != Machine::nobody)
      ++votes[static_cast<std::size_t>(f[m] > 0 ? model.machines[m].positive
                                                : model.machines[m].negative)];
  }
  std::sort(votes.rbegin(), votes.rend());
  return votes.size() < 2 || votes[0] > votes[1];
}

void expect_same(Comparison problem) {
  ASSERT_FALSE(run_and_read("command -v svm-train").empty())
      << "svm-train is not installed; run scripts/install-dependencies";
  const Witness witness = ask_libsvm(problem);
  ASSERT_EQ(witness.predictions.size(), problem.test.rows());
  EXPECT_GT(std::abs(witness.objective), 10) << "too small for six printed decimals";

  problem.options.stop.kkt = problem.tolerance;
  problem.options.stop.relative_gap = problem.gap;
  const Threads threads(2);
  const Trained trained = train(std::move(problem.train), problem.options, threads);
  const Model& model = trained.model;
  EXPECT_EQ(trained.ended, Ended::converged);
  // LIBSVM divides the objective of nu-SVC by rho^2.
  double objective = 0;
  for (const Machine& machine : model.machines)
    objective -= std::holds_alternative<NuSvc>(problem.options.task)
                     ? machine.certificate.dual / (machine.width * machine.width)
                     : machine.certificate.dual;
  EXPECT_NEAR(objective, witness.objective, problem.precision * std::abs(witness.objective));

  const Predictor predictor(model);
  const std::vector<double> f =
      predictor.decision_values(predictor.prepared(problem.test.x), threads);
  const std::size_t machines = model.machines.size();
  std::size_t compared = 0;
  for (std::size_t i = 0; i < problem.test.rows(); ++i) {
    const std::span<const double> values(&f[i * machines], machines);
    const double predicted = predictor.predict(values);
    if (model.outcome == Outcome::number) {
      EXPECT_NEAR(predicted, witness.predictions[i], 1e-3 * (1 + std::abs(predicted))) << i;
      ++compared;
    } else if (clear_cut(model, values)) {
      const double label = model.outcome == Outcome::novelty
                               ? predicted
                               : std::stod(model.classes[static_cast<std::size_t>(predicted)]);
      EXPECT_EQ(label, witness.predictions[i]) << "row " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, problem.test.rows() * 8 / 10);
}

Dataset scaled_up(Dataset data, double factor) {
  for (double& y : data.y) y *= factor;
  return data;
}

Dataset without_labels(Dataset data) {
  data.y.clear();
  return data;
}

constexpr std::size_t rows = 300, columns = 8;

Dataset two_classes(std::uint64_t seed, Storage storage = Storage::dense_doubles) {
  return made::classification(rows, columns, storage, seed);
}

TEST(LibsvmParity, ClassificationRbf) {
  expect_same({two_classes(1),
               two_classes(2),
               {.task = Svc{.cost = 4}, .kernel = Rbf{.gamma = 1.5}},
               "-s 0 -t 2 -c 4 -g 1.5"});
}

TEST(LibsvmParity, ClassificationSparseRbf) {
  expect_same({two_classes(3, Storage::sparse),
               two_classes(4, Storage::sparse),
               {.task = Svc{.cost = 10}, .kernel = Rbf{.gamma = 0.7}},
               "-s 0 -t 2 -c 10 -g 0.7"});
}

TEST(LibsvmParity, ClassificationLinear) {
  expect_same({two_classes(5),
               two_classes(6),
               {.task = Svc{.cost = 2}, .kernel = Linear{}},
               "-s 0 -t 0 -c 2"});
}

TEST(LibsvmParity, ClassificationPolynomial) {
  expect_same(
      {two_classes(7),
       two_classes(8),
       {.task = Svc{.cost = 1}, .kernel = Polynomial{.gamma = 0.5, .degree = 3, .coef0 = 1}},
       "-s 0 -t 1 -c 1 -g 0.5 -d 3 -r 1"});
}

TEST(LibsvmParity, ClassificationSigmoid) {
  expect_same({two_classes(9),
               two_classes(10),
               {.task = Svc{.cost = 1}, .kernel = Sigmoid{.gamma = 0.05, .coef0 = -0.5}},
               "-s 0 -t 3 -c 1 -g 0.05 -r -0.5"});
}

TEST(LibsvmParity, ClassWeights) {
  expect_same({two_classes(11),
               two_classes(12),
               {.task = Svc{.cost = 4, .class_weights = {{"1", 3.0}, {"-1", 0.5}}},
                .kernel = Rbf{.gamma = 1}},
               "-s 0 -t 2 -c 4 -g 1 -w1 3 -w-1 0.5"});
}

TEST(LibsvmParity, FourClasses) {
  for (const Storage storage : {Storage::dense_doubles, Storage::sparse})
    expect_same({made::classification(400, columns, storage, 13, 4),
                 made::classification(400, columns, storage, 14, 4),
                 {.task = Svc{.cost = 5}, .kernel = Rbf{.gamma = 1}},
                 "-s 0 -t 2 -c 5 -g 1"});
}

TEST(LibsvmParity, Precomputed) {
  Dataset gram = two_classes(15);
  const Features x = std::exchange(gram.x, Features::dense(rows));
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<double> row;
    for (std::size_t j = 0; j < rows; ++j) row.push_back(naive_value(Rbf{.gamma = 1}, x, i, x, j));
    gram.x.append(row);
  }
  expect_same({made::copy_of(gram),
               made::copy_of(gram),
               {.task = Svc{.cost = 4}, .kernel = Precomputed{}},
               "-s 0 -t 4 -c 4"});
}

/// f of nu-SVC is divided by rho, and so are its errors: LIBSVM has to be asked for more.
Comparison tight(Comparison problem) {
  problem.tolerance = 1e-9;
  problem.gap = 1e-8;
  return problem;
}

TEST(LibsvmParity, NuClassification) {
  for (const double nu : {0.3, 0.7})
    expect_same(tight({two_classes(31),
                       two_classes(32),
                       {.task = NuSvc{.nu = nu}, .kernel = Rbf{.gamma = 1.5}},
                       "-s 1 -t 2 -g 1.5 -n " + shortest(nu)}));
}

TEST(LibsvmParity, NuClassificationOfFourClasses) {
  expect_same(tight({made::classification(300, columns, Storage::sparse, 33, 4),
                     made::classification(300, columns, Storage::sparse, 34, 4),
                     {.task = NuSvc{.nu = 0.6}, .kernel = Rbf{.gamma = 1}},
                     "-s 1 -t 2 -g 1 -n 0.6"}));
}

TEST(LibsvmParity, NuRegression) {
  for (const double nu : {0.2, 0.6})
    expect_same(tight({scaled_up(made::regression(rows, columns, Storage::dense_doubles, 35), 5),
                       scaled_up(made::regression(rows, columns, Storage::dense_doubles, 36), 5),
                       {.task = NuSvr{.cost = 2, .nu = nu}, .kernel = Rbf{.gamma = 0.5}},
                       "-s 4 -t 2 -c 2 -g 0.5 -n " + shortest(nu)}));
}

TEST(LibsvmParity, NuRegressionLinear) {
  expect_same(tight({scaled_up(made::regression(rows, columns, Storage::sparse, 37), 5),
                     scaled_up(made::regression(rows, columns, Storage::sparse, 38), 5),
                     {.task = NuSvr{.cost = 1, .nu = 0.4}, .kernel = Linear{}},
                     "-s 4 -t 0 -c 1 -n 0.4"}));
}

TEST(LibsvmParity, RegressionRbf) {
  expect_same(
      {scaled_up(made::regression(rows, columns, Storage::dense_doubles, 17), 5),
       scaled_up(made::regression(rows, columns, Storage::dense_doubles, 18), 5),
       {.task = Svr{.cost = 2, .loss = EpsilonInsensitive{0.2}}, .kernel = Rbf{.gamma = 0.5}},
       "-s 3 -t 2 -c 2 -p 0.2 -g 0.5"});
}

TEST(LibsvmParity, RegressionLinear) {
  expect_same({scaled_up(made::regression(rows, columns, Storage::sparse, 19), 5),
               scaled_up(made::regression(rows, columns, Storage::sparse, 20), 5),
               {.task = Svr{.cost = 1, .loss = EpsilonInsensitive{0.1}}, .kernel = Linear{}},
               "-s 3 -t 0 -c 1 -p 0.1"});
}

TEST(LibsvmParity, RegressionPolynomial) {
  expect_same({scaled_up(made::regression(rows, columns, Storage::dense_doubles, 21), 5),
               scaled_up(made::regression(rows, columns, Storage::dense_doubles, 22), 5),
               {.task = Svr{.cost = 0.5, .loss = EpsilonInsensitive{0.3}},
                .kernel = Polynomial{.gamma = 0.25, .degree = 2, .coef0 = 1}},
               "-s 3 -t 1 -c 0.5 -p 0.3 -g 0.25 -d 2 -r 1"});
}

TEST(LibsvmParity, OneClassRbf) {
  expect_same({without_labels(two_classes(23)),
               without_labels(two_classes(24)),
               {.task = OneClass{.nu = 0.2}, .kernel = Rbf{.gamma = 0.5}},
               "-s 2 -t 2 -n 0.2 -g 0.5"});
}

TEST(LibsvmParity, OneClassLinear) {
  expect_same({without_labels(two_classes(25)),
               without_labels(two_classes(26)),
               {.task = OneClass{.nu = 0.3}, .kernel = Linear{}},
               "-s 2 -t 0 -n 0.3"});
}

#ifndef MAXMARGIN_SANITIZED

/// Every `step`-th row, from `first` on.
Dataset every(const Dataset& data, std::size_t step, std::size_t first) {
  std::vector<Index> which;
  for (std::size_t i = first; i < data.rows(); i += step) which.push_back(static_cast<Index>(i));
  return made::chosen(data, which);
}

/// Trains on every `step`-th row and tests on others (step 1: on the training rows themselves).
void expect_same_on(const std::string& name, std::size_t step, TrainOptions options,
                    const std::string& libsvm_options) {
  const fs::path path = data_dir() / (name + ".zst");
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << " to compare on";
  const Dataset data = read(path, {}, Threads(2));
  expect_same({every(data, step, 0), every(data, std::max<std::size_t>(step, 3), step > 1 ? 1 : 0),
               std::move(options), libsvm_options});
}

TEST(LibsvmParityShared, Heart) {
  expect_same_on("binary/heart_scale", 1, {.task = Svc{.cost = 2}, .kernel = Rbf{.gamma = 0.1}},
                 "-s 0 -t 2 -c 2 -g 0.1");
  expect_same_on("binary/heart_scale", 1, {.task = Svc{.cost = 1}, .kernel = Linear{}},
                 "-s 0 -t 0 -c 1");
}

TEST(LibsvmParityShared, Adult) {
  expect_same_on("binary/a1a", 1, {.task = Svc{.cost = 1}, .kernel = Rbf{.gamma = 0.008}},
                 "-s 0 -t 2 -c 1 -g 0.008");
  expect_same_on(
      "binary/a1a", 2,
      {.task = Svc{.cost = 1, .class_weights = {{"1", 3.0}}}, .kernel = Rbf{.gamma = 0.1}},
      "-s 0 -t 2 -c 1 -g 0.1 -w1 3");
}

TEST(LibsvmParityShared, Guide) {
  expect_same_on("binary/svmguide1", 3, {.task = Svc{.cost = 1}, .kernel = Rbf{.gamma = 0.001}},
                 "-s 0 -t 2 -c 1 -g 0.001");
}

TEST(LibsvmParityShared, Diabetes) {
  expect_same_on(
      "binary/diabetes_scale", 1,
      {.task = Svc{.cost = 1}, .kernel = Polynomial{.gamma = 0.2, .degree = 2, .coef0 = 1}},
      "-s 0 -t 1 -c 1 -g 0.2 -d 2 -r 1");
}

TEST(LibsvmParityShared, Digits) {
  expect_same_on("multiclass/usps", 8, {.task = Svc{.cost = 10}, .kernel = Rbf{.gamma = 0.01}},
                 "-s 0 -t 2 -c 10 -g 0.01");
}

TEST(LibsvmParityShared, Abalone) {
  expect_same_on(
      "regression/abalone_scale", 4,
      {.task = Svr{.cost = 2, .loss = EpsilonInsensitive{0.5}}, .kernel = Rbf{.gamma = 0.5}},
      "-s 3 -t 2 -c 2 -p 0.5 -g 0.5");
}

TEST(LibsvmParityShared, WebOneClass) {
  const fs::path path = data_dir() / "binary/w1a.zst";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path << " to compare on";
  const Dataset data = read(path, {}, Threads(2));
  expect_same({without_labels(every(data, 2, 0)),
               without_labels(every(data, 5, 1)),
               {.task = OneClass{.nu = 0.1}, .kernel = Rbf{.gamma = 0.05}},
               "-s 2 -t 2 -n 0.1 -g 0.05"});
}

#endif

}  // namespace
}  // namespace maxmargin::libsvm_parity_test
