// What must hold for any data: conjugates of blocks, the meaning of weights, the order of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "maxmargin/data/like.hpp"
#include "maxmargin/kernel/engine/engine.hpp"
#include "maxmargin/loss/block.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::properties_test {
namespace {

using made::Storage;

Block random_block(Rng& rng) {
  Block block;
  block.sign = rng.below(2) == 0 ? 1 : -1;
  block.linear = rng.uniform(-3, 3);
  block.lower = rng.below(3) == 0 ? 0 : rng.uniform(-2, 0);
  block.upper = rng.uniform(0, 3);
  block.curvature = rng.below(2) == 0 ? 0 : rng.uniform(0.1, 4);
  return block;
}

TEST(BlockProperties, ConjugateIsTheSupremum) {
  Rng rng(1);
  for (int n = 0; n < 500; ++n) {
    const Block block = random_block(rng);
    const double slope = rng.uniform(-10, 10);
    constexpr int steps = 2000;
    const double width = (block.upper - block.lower) / steps;
    double supremum = -infinity;
    for (int i = 0; i <= steps; ++i) {
      const double t = i == steps ? block.upper : block.lower + i * width;
      supremum = std::max(supremum, slope * t - block.value(t));
    }
    // A parabola is at most c (width / 2)^2 / 2 higher between two points than at the nearer one.
    const double between = block.curvature * width * width / 8 + 1e-12;
    EXPECT_GE(block.conjugate(slope), supremum - 1e-12);
    EXPECT_LE(block.conjugate(slope), supremum + between);
  }
}

TEST(BlockProperties, FenchelInequalityIsTightAtTheArgmax) {
  Rng rng(2);
  for (int n = 0; n < 2000; ++n) {
    Block block = random_block(rng);
    if (block.curvature > 0 && rng.below(2) == 0) block.upper = infinity;
    if (block.curvature > 0 && rng.below(2) == 0) block.lower = -infinity;
    const double slope = rng.uniform(-10, 10);
    const double low = std::max(block.lower, -20.0), high = std::min(block.upper, 20.0);
    const double t = rng.uniform(low, high);
    EXPECT_GE(block.value(t) + block.conjugate(slope) - slope * t, -1e-12);
    const double best = block.argmax(slope);
    EXPECT_GE(best, block.lower);
    EXPECT_LE(best, block.upper);
    EXPECT_NEAR(block.value(best) + block.conjugate(slope) - slope * best, 0, 1e-10);
  }
}

TEST(BlockProperties, ConjugateIsInfiniteWhereTheVariableHasNoBound) {
  const Block hard_margin{1, -1, 0, infinity, 0};
  EXPECT_EQ(hard_margin.conjugate(-1.5), 0);
  EXPECT_EQ(hard_margin.conjugate(-1), 0);
  EXPECT_EQ(hard_margin.conjugate(-0.5), infinity);
}

struct NamedTask {
  std::string name;
  Task task;
};
void PrintTo(const NamedTask& task, std::ostream* out) { *out << task.name; }

std::vector<NamedTask> tasks() {
  return {{"svc", Svc{.cost = 3, .class_weights = {{"1", 2.0}}}},
          {"nu_svc", NuSvc{.nu = 0.3, .class_weights = {{"1", 2.0}}}},
          {"svr", Svr{.cost = 2, .loss = EpsilonInsensitive{0.1, 2}}},
          {"nu_svr", NuSvr{.cost = 2, .nu = 0.4}},
          {"one_class", OneClass{.nu = 0.4}}};
}

class TrainingProperties : public testing::TestWithParam<NamedTask> {
 protected:
  static constexpr std::size_t rows = 60, columns = 4;
  Threads threads{2};

  Dataset data(Storage storage) const {
    Dataset result = outcome_of(GetParam().task) == Outcome::number
                         ? made::regression(rows, columns, storage, 21)
                         : made::classification(rows, columns, storage, 22);
    if (outcome_of(GetParam().task) == Outcome::novelty) result.y.clear();
    return result;
  }

  Trained trained(Dataset dataset) const {
    TrainOptions options;
    options.task = GetParam().task;
    options.kernel = Rbf{.gamma = 2};
    options.stop.kkt = 1e-6;
    options.stop.relative_gap = 1e-10;
    options.memory_bytes = std::size_t{1} << 20;
    return train(std::move(dataset), options, threads);
  }

  std::vector<double> values(const Model& model, const Rows& at) const {
    return Predictor(model).decision_values(at, threads);
  }

  /// The same in double throughout: float kernel values depend on the other support vectors.
  std::vector<double> exact_values(const Model& model, const Rows& at) const {
    const Machine& machine = model.machines.at(0);
    std::vector<double> f(at.count, machine.bias());
    for (std::size_t i = 0; i < at.count; ++i)
      for (std::size_t k = 0; k < machine.support.size(); ++k)
        f[i] += machine.coefficient[k] *
                naive_value(model.kernel, model.support, machine.support[k], at, i);
    return f;
  }

  void expect_near(const std::vector<double>& left, const std::vector<double>& right,
                   double tolerance) const {
    ASSERT_EQ(left.size(), right.size());
    for (std::size_t i = 0; i < left.size(); ++i)
      EXPECT_NEAR(left[i], right[i], tolerance) << "row " << i;
  }
};

TEST_P(TrainingProperties, AWeightIsANumberOfCopies) {
  for (const Storage storage : {Storage::dense_floats, Storage::sparse}) {
    Dataset weighted = data(storage);
    std::vector<Index> copies;
    for (std::size_t i = 0; i < rows; ++i) {
      weighted.weight.push_back(1 + static_cast<double>(i % 3));
      copies.insert(copies.end(), 1 + i % 3, static_cast<Index>(i));
    }
    Dataset plain = made::copy_of(weighted);
    plain.weight.clear();
    const Dataset copied = made::chosen(plain, copies);
    const Trained one = trained(made::copy_of(weighted)), many = trained(made::copy_of(copied));
    EXPECT_NEAR(one.certificate.primal, many.certificate.primal,
                1e-9 * std::abs(one.certificate.primal));
    expect_near(exact_values(one.model, plain.x), exact_values(many.model, plain.x), 1e-9);
  }
}

TEST_P(TrainingProperties, AWeightOfZeroIsAnAbsentRow) {
  for (const Storage storage : {Storage::dense_floats, Storage::sparse}) {
    Dataset weighted = data(storage);
    std::vector<Index> present;
    for (std::size_t i = 0; i < rows; ++i) {
      weighted.weight.push_back(i % 4 == 0 ? 0 : 1.5);
      if (i % 4 != 0) present.push_back(static_cast<Index>(i));
    }
    const Dataset shorter = made::chosen(weighted, present);
    const Trained with = trained(made::copy_of(weighted)),
                  without = trained(made::copy_of(shorter));
    expect_near(exact_values(with.model, weighted.x), exact_values(without.model, weighted.x),
                1e-9);
  }
}

// The optimum is one function; two runs may stop at different points close to it. A relative gap of
// 1e-10 keeps f within sqrt(2 gap) of it.
TEST_P(TrainingProperties, TheOrderOfRowsDoesNotMatter) {
  for (const Storage storage : {Storage::dense_doubles, Storage::sparse}) {
    const Dataset plain = data(storage);
    std::vector<Index> order(rows);
    std::iota(order.begin(), order.end(), Index{0});
    Rng rng(23);
    for (std::size_t i = rows - 1; i > 0; --i) std::swap(order[i], order[rng.below(i + 1)]);
    const Trained one = trained(made::copy_of(plain)), other = trained(made::chosen(plain, order));
    EXPECT_NEAR(one.certificate.dual, other.certificate.dual,
                1e-9 * (1 + std::abs(one.certificate.dual)));
    expect_near(values(one.model, plain.x), values(other.model, plain.x), 2e-4);
  }
}

TEST_P(TrainingProperties, TheSameInputGivesTheSameModel) {
  const Dataset plain = data(Storage::sparse);
  EXPECT_EQ(digest(trained(made::copy_of(plain)).model),
            digest(trained(made::copy_of(plain)).model));
}

TEST_P(TrainingProperties, DenseAndSparseRowsAreTheSameRows) {
  const Dataset sparse = data(Storage::sparse);
  Dataset dense = made::copy_of(sparse);
  dense.x = Features::dense(columns);
  std::vector<double> row(columns);
  const Rows view = sparse.x;
  for (std::size_t i = 0; i < rows; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    view.for_each(i, [&](Index feature, double value) { row[feature] = value; });
    dense.x.append(row);
  }
  const Trained one = trained(made::copy_of(sparse)), other = trained(made::copy_of(dense));
  expect_near(values(one.model, sparse.x), values(other.model, dense.x), 2e-4);
}

// Distances do not see it, and neither does the machine, to the last bit.
TEST_P(TrainingProperties, AConstantFeatureChangesNothing) {
  for (const Storage storage : {Storage::dense_doubles, Storage::sparse}) {
    const Dataset plain = data(storage);
    Dataset wider = made::copy_of(plain);
    wider.x = no_rows(storage == Storage::sparse, columns + 1);
    std::vector<double> row(columns + 1);
    for (std::size_t i = 0; i < rows; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      plain.x.view().for_each(i, [&](Index feature, double value) { row[feature + 1] = value; });
      row[0] = 3.7;
      wider.x.append(row);
    }
    const Machine one = trained(made::copy_of(plain)).model.machines.at(0);
    const Machine other = trained(made::copy_of(wider)).model.machines.at(0);
    EXPECT_EQ(one.support, other.support);
    EXPECT_EQ(one.coefficient, other.coefficient);
    EXPECT_EQ(one.lambda, other.lambda);
  }
}

TEST(HardMargin, AllowsNoError) {
  Dataset data;
  data.x = Features::dense(2);
  Rng rng(31);
  for (int i = 0; i < 60; ++i) {
    const double side = i % 2 == 0 ? 1 : -1;
    data.x.append(std::vector<double>{side * rng.uniform(0.5, 2), rng.uniform(-1, 1)});
    data.y.push_back(side);
  }
  TrainOptions options;
  options.task = Svc{.hard_margin = true};
  options.kernel = Linear{};
  options.stop.kkt = 1e-6;
  const Threads threads(2);
  const Dataset copy = made::copy_of(data);
  const Trained trained = train(std::move(data), options, threads);
  EXPECT_EQ(trained.ended, Ended::converged);
  EXPECT_LE(trained.certificate.kkt, 1e-6);
  const int positive = trained.model.machines.at(0).positive;
  const double sign = trained.model.classes.at(static_cast<std::size_t>(positive)) == "1" ? 1 : -1;
  const auto values = Predictor(trained.model).decision_values(copy.x, threads);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_GE(sign * copy.y[i] * values[i], 1 - 1e-5) << "row " << i;
}

// Two classes that overlap: no margin exists, so the dual grows without bound and must say so.
TEST(HardMargin, SaysWhenNoMarginExists) {
  Dataset data;
  data.x = Features::dense(1, std::vector<double>{0, 1, 2, 3});
  data.y = {1, -1, 1, -1};
  TrainOptions options;
  options.task = Svc{.hard_margin = true};
  options.kernel = Linear{};
  const Trained trained = train(std::move(data), options, Threads(1));
  EXPECT_EQ(trained.ended, Ended::unbounded);
  EXPECT_NE(trained.obstacle.find("--cost"), std::string::npos);
}

// Costs that grow with the square bound no dual variable. Where K has a negative eigenvalue that
// they do not make up for, the dual falls without end, and its variables must not overflow.
TEST(IndefiniteKernel, SaysWhenTheObjectiveFallsWithoutEnd) {
  Dataset data = made::classification(40, 2, Storage::dense_doubles, 3);
  for (const Task& task : {Task(Svc{.cost = 1e5, .loss = SquaredHinge{}}),
                           Task(Svr{.cost = 1e5, .loss = SquaredEpsilonInsensitive{}}),
                           Task(Svr{.cost = 1e5, .loss = Squared{}})})
    for (const Bias bias : {Bias::unpenalised, Bias::none})
      for (const std::string solver : {"smo", "primal-dual", "gauss-seidel", "sor", "adatron"}) {
        if ((solver == "smo") != (bias == Bias::unpenalised)) continue;
        TrainOptions options;
        options.task = task;
        visit_list(
            [&](auto& chosen) {
              if constexpr (requires { chosen.bias; }) chosen.bias = bias;
            },
            options.task);
        // Of one variable alone the objective is convex unless K(x, x) < 0.
        options.kernel = bias == Bias::unpenalised ? Sigmoid{1, -2} : Sigmoid{0.1, -2};
        options.solver = solver;
        const Trained trained = train(made::copy_of(data), options, Threads(1));
        EXPECT_EQ(trained.ended, Ended::unbounded) << solver;
        EXPECT_NE(trained.obstacle.find("grows linearly"), std::string::npos) << trained.obstacle;
        for (const Machine& machine : trained.model.machines)
          for (const double coefficient : machine.coefficient)
            ASSERT_TRUE(std::isfinite(coefficient)) << solver;
      }
}

// Seven features that are nearly the same, and a cost that multiplies what tells them apart: single
// variables get nowhere.
TEST(Stalls, AnotherSolverGoesOnWhereTheChoiceWasAutomatic) {
  Dataset data;
  data.x = Features::dense(7);
  Rng rng(5);
  for (int i = 0; i < 40; ++i) {
    const double t = rng.uniform();
    std::vector<double> x;
    for (int j = 0; j < 7; ++j) x.push_back(t + 0.02 * rng.normal());
    data.x.append(x);
    data.y.push_back(10 * t + 2 * rng.normal());
  }
  TrainOptions options;
  options.task = Svr{.cost = 1e6, .bias = Bias::penalised};
  options.kernel = Linear{};
  options.stop.relative_gap = 1e-8;
  const Trained trained = train(made::copy_of(data), options, Threads(1));
  EXPECT_EQ(trained.ended, Ended::converged);
  EXPECT_LE(trained.certificate.relative_gap, 1e-8);
  EXPECT_EQ(trained.solver, "interior-point");
  EXPECT_NE(trained.reason.find("after gauss-seidel"), std::string::npos) << trained.reason;
  // One that was asked for is not left.
  options.solver = "gauss-seidel";
  EXPECT_EQ(train(std::move(data), options, Threads(1)).ended, Ended::stalled);
}

// Nothing to fit: zero is a solution, and no variable has gone far.
TEST(IndefiniteKernel, TargetsThatAreAllZeroHaveAnOptimum) {
  Dataset data = made::classification(20, 2, Storage::dense_doubles, 3);
  for (double& y : data.y) y = 0;
  TrainOptions options;
  options.task = Svr{.cost = 1, .loss = Squared{}};
  options.kernel = Sigmoid{0.1, 0};
  EXPECT_EQ(train(std::move(data), options, Threads(1)).ended, Ended::converged);
}

// The two classes have the same points: no nu leaves a margin.
TEST(NuSvc, SaysWhenNoMarginExists) {
  Dataset data;
  data.x = Features::dense(1, std::vector<double>{0, 1, 0, 1});
  data.y = {1, 1, -1, -1};
  TrainOptions options;
  options.task = NuSvc{.nu = 0.5};
  options.kernel = Linear{};
  const Trained trained = train(std::move(data), options, Threads(1));
  EXPECT_EQ(trained.ended, Ended::unbounded);
  EXPECT_NE(trained.obstacle.find("larger nu"), std::string::npos) << trained.obstacle;
}

// Noise: two classes drawn alike, so that their reduced hulls overlap.
TEST(NuSvc, EndsSoonWhereTheClassesOverlap) {
  Dataset data = made::classification(30, 2, Storage::dense_doubles, 1);
  for (std::size_t i = 0; i < 30; ++i) data.y[i] = i < 10 ? 1 : -1;
  TrainOptions options;
  options.task = NuSvc{.nu = 0.6};
  options.kernel = Linear{};
  const Trained trained = train(std::move(data), options, Threads(1));
  EXPECT_EQ(trained.ended, Ended::unbounded);
  EXPECT_LT(trained.iterations, 1000u);
  EXPECT_NEAR(trained.certificate.dual, 0, 1e-5);
}

// One class whose hull holds the origin: no plane parts it from there.
TEST(OneClass, SaysWhenNothingPartsTheDataFromTheOrigin) {
  Dataset data;
  data.x = Features::dense(2);
  Rng rng(3);
  for (int i = 0; i < 40; ++i) data.x.append(std::vector<double>{rng.normal(), rng.normal()});
  TrainOptions options;
  options.task = OneClass{.nu = 0.2};
  options.kernel = Linear{};
  EXPECT_EQ(train(std::move(data), options, Threads(1)).ended, Ended::unbounded);
}

std::string refusal(Dataset data, const Task& task) {
  try {
    train(std::move(data), {.task = task, .kernel = Rbf{20}}, Threads(1));
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "accepted";
}

TEST(NuSvc, AnInfeasibleNuIsRefusedWithTheLargestFeasibleOne) {
  Dataset data = made::classification(30, 2, Storage::dense_doubles, 1);
  for (std::size_t i = 0; i < 30; ++i) data.y[i] = i < 10 ? 1 : -1;
  const std::string why = refusal(made::copy_of(data), NuSvc{.nu = 0.9});
  EXPECT_NE(why.find("10 rows of class '1' and 20 rows of class '-1'"), std::string::npos) << why;
  EXPECT_NE(why.find("0.666666"), std::string::npos) << why;
  EXPECT_EQ(refusal(made::copy_of(data), NuSvc{.nu = 0.666666}), "accepted");
  EXPECT_EQ(refusal(made::copy_of(data), NuSvc{.nu = 2.0 / 3}), "accepted");
  EXPECT_NE(refusal(made::copy_of(data), NuSvc{.nu = 0.67}), "accepted");
  // Weights of rows and classes count as rows: 20 against 20.
  EXPECT_EQ(refusal(made::copy_of(data), NuSvc{.nu = 1, .class_weights = {{"1", 2.0}}}),
            "accepted");
  for (std::size_t i = 0; i < 30; ++i) data.weight.push_back(i < 10 ? 0.5 : 1);
  EXPECT_NE(refusal(made::copy_of(data), NuSvc{.nu = 0.41}).find("0.4"), std::string::npos);
  // Of several classes the pair that allows least decides.
  for (std::size_t i = 0; i < 5; ++i) data.y[i] = 7;
  data.weight.clear();
  EXPECT_NE(refusal(std::move(data), NuSvc{.nu = 0.5}).find("0.4"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Tasks, TrainingProperties, testing::ValuesIn(tasks()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace maxmargin::properties_test
