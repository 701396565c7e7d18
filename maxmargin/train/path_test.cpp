// Every point of a path against a machine that was trained for it alone.
#include "maxmargin/train/path.hpp"

#include <gtest/gtest.h>

#include "maxmargin/train/folds/cross_validate.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::path_test {
namespace {

using made::Storage;

PathOptions options_for(Task task, std::vector<double> values, int folds = 0) {
  PathOptions options;
  options.train = {.task = std::move(task), .kernel = Rbf{2}};
  options.train.stop.kkt = 1e-5;
  options.train.stop.relative_gap = 1e-5;
  options.values = std::move(values);
  options.folds = folds;
  return options;
}

TrainOptions at(const PathOptions& path, double value) {
  TrainOptions options = path.train;
  if (path.parameter == PathParameter::width) {
    options.kernel = Rbf{value};
    return options;
  }
  std::visit(
      [&](auto& task) {
        if constexpr (requires { task.cost; }) task.cost = value;
      },
      options.task);
  return options;
}

void expect_as_cold(const Dataset& data, const PathOptions& options) {
  const TrainedPath path = train_path(made::copy_of(data), options, Threads(1));
  ASSERT_EQ(path.points.size(), options.values.size());
  EXPECT_EQ(path.ended, Ended::converged);
  EXPECT_TRUE(path.violations.empty()) << path.violations.front();
  for (const PathPoint& point : path.points) {
    const TrainOptions alone = at(options, point.value);
    const Trained cold = train(made::copy_of(data), alone, Threads(1));
    EXPECT_NEAR(point.certificate.primal, cold.certificate.primal,
                3e-5 * std::abs(cold.certificate.primal));
    EXPECT_LE(point.certificate.relative_gap, 1e-5);
    EXPECT_GE(point.certificate.primal, cold.certificate.dual);
    EXPECT_NEAR(static_cast<double>(point.support), static_cast<double>(cold.model.support.count()),
                2 + 0.02 * static_cast<double>(point.support));
    if (options.folds == 0) continue;
    const CrossValidated folds =
        cross_validate(made::copy_of(data), alone, options.folds, Threads(1));
    if (path.outcome == Outcome::number)
      EXPECT_NEAR(point.error, folds.mean_squared_error, 1e-3 * folds.mean_squared_error);
    else
      // A row on the boundary may fall on either side of it.
      EXPECT_NEAR(point.error, 1 - folds.accuracy, 1.5 / static_cast<double>(data.rows()));
  }
}

TEST(Path, OverCostsIsThatOfColdMachines) {
  const Dataset data = made::classification(130, 3, Storage::dense_doubles, 1);
  expect_as_cold(data, options_for(Svc{}, {1000, 100, 10, 1, 0.01}, 4));
  expect_as_cold(data, options_for(Svc{}, {0.01, 1, 10, 1000}));
  expect_as_cold(data, options_for(Svc{.loss = SquaredHinge{}}, {10, 1, 0.1}));
  expect_as_cold(data, options_for(Svc{.bias = Bias::penalised}, {10, 1, 0.1}, 3));
  const Dataset numbers = made::regression(90, 3, Storage::sparse, 2);
  expect_as_cold(numbers, options_for(Svr{}, {100, 1, 0.1}, 3));
  expect_as_cold(numbers, options_for(NuSvr{}, {10, 1}));
}

TEST(Path, OfSeveralClassesAndOverWidths) {
  const Dataset three = made::classification(110, 3, Storage::dense_doubles, 3, 3);
  expect_as_cold(three, options_for(Svc{}, {10, 1, 0.1}, 3));
  const Dataset data = made::classification(110, 3, Storage::dense_floats, 4);
  PathOptions widths = options_for(Svc{}, {10, 1, 0.1}, 3);
  widths.parameter = PathParameter::width;
  expect_as_cold(data, widths);
  PathOptions nu = options_for(NuSvc{.nu = 0.3}, {0.5, 2, 8});
  nu.parameter = PathParameter::width;
  expect_as_cold(three, nu);
}

TEST(Path, WithFunctionsOrWeights) {
  Dataset data = made::classification(90, 3, Storage::dense_doubles, 5);
  data.weight = made::weights(90, 6);
  expect_as_cold(data, options_for(Svc{}, {10, 1, 0.1}));
  PathOptions options = options_for(Svc{}, {10, 1, 0.1});
  options.train.functions = {{ParametricFunction::Kind::expression, "sin(x1)", {}}};
  expect_as_cold(data, options);
}

TEST(Path, KnowsMarginLossAndWhatItsStartWasWorth) {
  const Dataset data = made::classification(120, 3, Storage::dense_doubles, 7);
  const TrainedPath path =
      train_path(made::copy_of(data), options_for(Svc{}, {100, 10, 1}), Threads(1));
  for (std::size_t k = 0; k < path.points.size(); ++k) {
    const PathPoint& point = path.points[k];
    EXPECT_NEAR(point.regulariser + point.cost * 120 * point.loss, point.certificate.primal,
                1e-9 * point.certificate.primal);
    EXPECT_NEAR(point.margin, 1 / std::sqrt(2 * point.regulariser), 1e-12);
    if (k == 0) continue;
    EXPECT_GT(point.margin, path.points[k - 1].margin);
    EXPECT_GE(point.loss, path.points[k - 1].loss);
    EXPECT_GE(point.start_primal, point.certificate.dual);
  }
}

TEST(Path, OfWidthsThatWereNotReachedNothingIsClaimed) {
  const Dataset data = made::classification(110, 3, Storage::dense_doubles, 3);
  PathOptions options = options_for(Svc{}, {2, 1, 0.5}, 3);
  options.parameter = PathParameter::width;
  options.train.stop.seconds = 0;
  const TrainedPath path = train_path(made::copy_of(data), options, Threads(2));
  EXPECT_EQ(path.ended, Ended::time_limit);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(path.points[k].ended, Ended::time_limit);
    EXPECT_TRUE(std::isnan(path.points[k].error));
    EXPECT_EQ(std::isinf(path.points[k].certificate.primal), k > 0);
    EXPECT_EQ(path.points[k].seconds_of_folds > 0, k == 0);
  }
}

TEST(Path, ContradictionsAreFound) {
  PathPoint more, less;
  more.cost = 10;
  less.cost = 1;
  more.certificate.primal = 10;
  more.certificate.dual = 9.99;
  less.certificate.primal = 5;
  less.certificate.dual = 4.99;
  more.start_primal = less.start_primal = infinity;
  EXPECT_TRUE(contradictions({more, less}).empty());
  PathPoint wrong = less;
  wrong.certificate.dual = 10.5;  // an optimum that grows when C shrinks
  wrong.certificate.primal = 10.6;
  EXPECT_FALSE(contradictions({more, wrong}).empty());
  wrong = less;
  wrong.certificate.primal = 0.9;  // less than C/C' of the other
  wrong.certificate.dual = 0.8;
  EXPECT_FALSE(contradictions({more, wrong}).empty());
  wrong = less;
  wrong.start_primal = 4;  // a start that is better than the optimum
  EXPECT_FALSE(contradictions({more, wrong}).empty());
}

TEST(Path, ValuesThatAreNoneOrInNoOrderAreRefused) {
  const Dataset data = made::classification(30, 2, Storage::dense_doubles, 8);
  const auto refuses = [&](const PathOptions& options) {
    EXPECT_THROW(train_path(made::copy_of(data), options, Threads(1)), Error);
  };
  refuses(options_for(Svc{}, {}));
  refuses(options_for(Svc{}, {1, 10, 2}));
  refuses(options_for(Svc{}, {1, 1}));
  refuses(options_for(Svc{}, {1, 0}));
  refuses(options_for(NuSvc{}, {2, 1}));
  PathOptions widths = options_for(Svc{}, {2, 1});
  widths.parameter = PathParameter::width;
  widths.train.kernel = Linear{};
  refuses(widths);
}

}  // namespace
}  // namespace maxmargin::path_test
