// Restarts: the same optimum as from nothing, with less work, or a refusal that says why.
#include "maxmargin/train/machines/start.hpp"

#include <gtest/gtest.h>

#include "tests/made_data.hpp"

namespace maxmargin::start_test {
namespace {

using made::Storage;

TrainOptions tight(Task task, Kernel kernel = Rbf{2}) {
  TrainOptions options{.task = std::move(task), .kernel = std::move(kernel)};
  options.stop.kkt = 1e-6;
  options.stop.relative_gap = 1e-6;
  return options;
}

Trained from(const Model& model, const Dataset& data, TrainOptions options) {
  options.start = {std::shared_ptr<void>(), &model};
  return train(made::copy_of(data), options, Threads(1));
}

/// Starting from `first` must lead where a cold start leads.
void expect_same(const Dataset& first, const TrainOptions& before, const Dataset& second,
                 const TrainOptions& after) {
  const Trained start = train(made::copy_of(first), before, Threads(1));
  const Trained cold = train(made::copy_of(second), after, Threads(1));
  const Trained warm = from(start.model, second, after);
  EXPECT_EQ(warm.ended, Ended::converged) << to_string(warm.ended);
  EXPECT_LE(warm.certificate.relative_gap, 1e-6);
  EXPECT_NEAR(warm.certificate.primal, cold.certificate.primal,
              3e-6 * std::abs(cold.certificate.primal));
  EXPECT_NE(warm.reason.find("from the model given"), std::string::npos) << warm.reason;
}

TEST(Start, OfTheSameMachineIsAtTheEndAtOnce) {
  const Dataset data = made::classification(120, 4, Storage::dense_doubles, 1);
  const TrainOptions options{.task = Svc{.cost = 3}, .kernel = Rbf{2}};
  const Trained first = train(made::copy_of(data), options, Threads(1));
  EXPECT_GT(first.iterations, 0u);
  const Trained again = from(first.model, data, options);
  EXPECT_EQ(again.iterations, 0u);
  EXPECT_EQ(again.model.support_row, first.model.support_row);
}

TEST(Start, ForAnotherCostLeadsToTheSameOptimum) {
  const Dataset data = made::classification(150, 4, Storage::sparse, 2);
  for (const auto& [before, after] :
       std::vector<std::pair<double, double>>{{100, 1}, {1, 100}, {10, 5}})
    expect_same(data, tight(Svc{.cost = before}), data, tight(Svc{.cost = after}));
  const Dataset numbers = made::regression(100, 3, Storage::dense_floats, 3);
  expect_same(numbers, tight(Svr{.cost = 10, .loss = EpsilonInsensitive{0.05}}), numbers,
              tight(Svr{.cost = 0.5, .loss = EpsilonInsensitive{0.05}}));
  expect_same(numbers, tight(NuSvr{.cost = 10, .nu = 0.4}), numbers,
              tight(NuSvr{.cost = 1, .nu = 0.4}));
}

TEST(Start, OfEveryTaskForAnotherWidthOrNu) {
  const Dataset data = made::classification(120, 4, Storage::dense_doubles, 4);
  expect_same(data, tight(Svc{}, Rbf{2}), data, tight(Svc{}, Rbf{0.5}));
  expect_same(data, tight(NuSvc{.nu = 0.3}), data, tight(NuSvc{.nu = 0.4}));
  expect_same(data, tight(OneClass{.nu = 0.2}), data, tight(OneClass{.nu = 0.5}, Rbf{1}));
  for (const MarginLoss& loss : {MarginLoss(SquaredHinge{}), MarginLoss(Logistic{})})
    expect_same(data, tight(Svc{.cost = 5, .loss = loss}), data,
                tight(Svc{.cost = 1, .loss = loss}));
  expect_same(data, tight(Svc{.cost = 5, .bias = Bias::penalised}), data,
              tight(Svc{.cost = 1, .bias = Bias::penalised}));
}

TEST(Start, ForMoreRowsAndForFewer) {
  const Dataset all = made::classification(160, 3, Storage::dense_doubles, 5, 3);
  Dataset some;
  some.x = Features::dense(3);
  std::vector<Index> rows;
  for (Index i = 20; i < 140; ++i) rows.push_back(i);
  some.x.append(all.x.view(), rows);
  for (const Index row : rows) some.y.push_back(all.y[row]);
  for (const Multiclass scheme : {Multiclass::one_vs_one, Multiclass::one_vs_rest}) {
    const TrainOptions options = tight(Svc{.cost = 2, .multiclass = scheme});
    expect_same(some, options, all, options);
    expect_same(all, options, some, options);
  }
  TrainOptions scaled = tight(Svc{.cost = 2});
  scaled.scaling = ScalingKind::range;
  const Trained first = train(made::copy_of(some), scaled, Threads(1));
  const Trained more = from(first.model, all, scaled);
  EXPECT_EQ(more.ended, Ended::converged);
  EXPECT_EQ(more.model.scaling.factor, first.model.scaling.factor);
}

TEST(Start, WithAnotherSolver) {
  const Dataset data = made::classification(100, 4, Storage::dense_doubles, 6);
  for (const char* solver : {"primal-dual", "interior-point", "smo"}) {
    TrainOptions other = tight(Svc{.cost = 1});
    other.solver = solver;
    expect_same(data, tight(Svc{.cost = 20}), data, other);
  }
  TrainOptions one = tight(Svc{.cost = 1, .bias = Bias::none});
  one.solver = "gauss-seidel";
  expect_same(data, tight(Svc{.cost = 20, .bias = Bias::none}), data, one);
}

TEST(Start, TakesLessWorkThanNone) {
  const Dataset data = made::classification(600, 4, Storage::dense_doubles, 7);
  const Trained start = train(made::copy_of(data), tight(Svc{.cost = 10}), Threads(1));
  const Trained cold = train(made::copy_of(data), tight(Svc{.cost = 9}), Threads(1));
  EXPECT_LT(from(start.model, data, tight(Svc{.cost = 9})).iterations, cold.iterations);
}

std::string why(const Model& model, const Dataset& data, const TrainOptions& options) {
  try {
    from(model, data, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Start, ThatDoesNotFitIsRefusedWithTheReason) {
  const Dataset data = made::classification(80, 3, Storage::dense_doubles, 8);
  const auto refused = [&](const Model& model, const Dataset& other, const TrainOptions& options,
                           const std::string& part) {
    const std::string said = why(model, other, options);
    EXPECT_NE(said.find(part), std::string::npos) << "'" << said << "' for " << part;
  };
  const Model model = train(made::copy_of(data), TrainOptions{.kernel = Rbf{2}}, Threads(1)).model;
  refused(model, data, {.task = NuSvc{.nu = 0.1}, .kernel = Rbf{2}}, "its task is svc");
  refused(model, data, {.kernel = Linear{}}, "its kernel is rbf");
  refused(model, made::classification(80, 3, Storage::dense_doubles, 8, 3), {.kernel = Rbf{2}},
          "its classes are -1, 1");
  refused(model, made::classification(80, 3, Storage::dense_doubles, 9), {.kernel = Rbf{2}},
          "support vectors is a row of the data");
  TrainOptions scaled{.kernel = Rbf{2}};
  scaled.scaling = ScalingKind::range;
  refused(model, data, scaled, "not scaled");
  TrainOptions lagrangian{.task = Svc{.loss = SquaredHinge{}, .bias = Bias::penalised},
                          .kernel = Rbf{2}};
  lagrangian.solver = "lagrangian";
  refused(model, data, lagrangian, "always starts from 0");
  TrainOptions low{.kernel = Rbf{2}};
  low.approximate = Approximate{.rank = 10};
  refused(train(made::copy_of(data), low, Threads(1)).model, data, {.kernel = Rbf{2}},
          "no dual variables");
}

}  // namespace
}  // namespace maxmargin::start_test
