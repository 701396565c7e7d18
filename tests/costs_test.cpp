// What operations are said to cost, and the sizes from which on one way is said to be faster,
// decide how an optimum is found, never which it is: the context hands them down to every choice,
// so that small problems take each of the ways.
#include <gtest/gtest.h>

#include <regex>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/structured/solvers/solve.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "maxmargin/train/race.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/enumerated_structures.hpp"
#include "tests/made_data.hpp"
#include "tests/other_costs.hpp"
#include "tests/source_tree.hpp"

namespace maxmargin::costs_test {
namespace {

using made::Storage;
using other_costs::dear_memory;
using other_costs::dear_values;

constexpr std::size_t huge = std::size_t{1} << 40, large = std::size_t{1} << 20;

/// Every way that is meant for many points or many values is taken by few.
CostModel small_is_large() {
  CostModel costs;
  costs.solvers = {.tight_precision = 1,
                   .few_points = huge,
                   .few_points_of_one_system = huge,
                   .some_points = 1,
                   .many_points = 1,
                   .many_points_a_column = 0,
                   .path_iterations = 1,
                   .newton_iterations = 1,
                   .most_seconds_after_a_stall = 1e9,
                   .uses_on_a_path = 0,
                   .uses_without_bounds = 0,
                   .products = 0,
                   .points_of_pilot = 50,
                   .least_points_of_pilot = 1,
                   .least_value_of_pilot = 0};
  costs.engines = {.packing_factor = large,
                   .most_differences = large,
                   .dense_from = 0,
                   .cached_features = huge,
                   .most_near = 0.99,
                   .most_near_stored = 0.99,
                   .least_far_rows = 2,
                   .most_features_of_a_box = huge,
                   .least_halved = 1,
                   .most_halved = huge,
                   .most_stretches = 12};
  costs.pairs = {.cascade_from = 1,
                 .least_part = 20,
                 .usable_share = 1,
                 .hopeless_share = 1,
                 .most_sparse_steps = 1000,
                 .rows_taken_again = 0,
                 .most_remaining = 1,
                 .newton_share = 1e9,
                 .most_plain = 0};
  costs.singles = {.sets_before_newton = 0, .newton_share = 1e9};
  costs.simplices = {.least_examples = 64,
                     .most_examples = 64,
                     .fresh_examples = 16,
                     .working_set = 8,
                     .visits_to_newton = 1,
                     .most_free = huge,
                     .newton_share = 1e9};
  costs.restarts = {.times_free = 1,
                    .least_part = 1,
                    .largest_part = huge,
                    .largest_share = 1,
                    .undecided_rows = 0};
  costs.unlearning = {.least_near = 0, .near_for_free = 0, .most_exchanged = huge};
  costs.races = {
      .approximate_from = 1, .points_a_column = 2, .least_columns = 1, .most_columns = huge};
  costs.streamed = {.working_rows = huge};
  costs.small_machines = {.values_for_each_use = huge};
  costs.structured.few_dimensions = huge;
  costs.certify = {
      .near_share = 0, .least_points = 0, .points_at_stake = 1, .most_extended_work = infinity};
  costs.weights = {.most_growth = 1e9, .small_bytes = 1e9};
  return costs;
}

/// No such way is taken, however much there is.
CostModel large_is_small() {
  CostModel costs;
  costs.solvers = {.tight_precision = 0,
                   .few_points = 0,
                   .few_points_of_one_system = 0,
                   .some_points = huge,
                   .many_points = huge,
                   .many_points_a_column = large,
                   .path_iterations = 1e9,
                   .newton_iterations = 1e9,
                   .most_seconds_after_a_stall = 0,
                   .uses_on_a_path = 1e9,
                   .uses_without_bounds = 1e9,
                   .products = 1e9,
                   .points_of_pilot = huge,
                   .least_points_of_pilot = huge,
                   .least_value_of_pilot = 1e9};
  costs.engines = {.packing_factor = 0,
                   .small_panels = 0,
                   .most_differences = 0,
                   .dense_from = 2,
                   .cached_features = 0,
                   .most_near = -1,
                   .most_near_stored = -1,
                   .least_far_rows = huge,
                   .most_features_of_a_box = 0,
                   .least_halved = huge,
                   .most_halved = 0,
                   .most_stretches = 0};
  costs.pairs = {.cascade_from = huge,
                 .least_part = huge,
                 .usable_share = 0,
                 .hopeless_share = 0,
                 .most_sparse_steps = 0,
                 .rows_taken_again = large,
                 .most_remaining = 0,
                 .newton_share = 0,
                 .most_plain = huge};
  costs.singles = {.sets_before_newton = 1 << 30, .newton_share = 0};
  costs.simplices = {.visits_to_newton = large, .most_free = 0, .newton_share = 0};
  costs.restarts = {.largest_part = 0, .largest_share = 0, .undecided_rows = 1};
  costs.unlearning = {.least_near = large, .near_for_free = 0, .most_exchanged = 0};
  costs.races.approximate_from = huge;
  costs.streamed = {.working_rows = 1, .working_rows_a_feature = 0, .rows_a_working_row = huge};
  costs.small_machines = {.most_rows = 0};
  costs.structured.few_dimensions = 0;
  costs.certify = {
      .near_share = large, .least_points = huge, .points_at_stake = huge, .most_extended_work = 0};
  costs.weights = {.most_growth = 0, .small_bytes = 0};
  return costs;
}

/// Rows are packed otherwise, with the choices of small_is_large() beyond that.
CostModel small_is_large_in_lists() {
  CostModel costs = small_is_large();
  costs.engines.dense_from = 2;
  costs.engines.most_differences = 0;
  costs.pairs.most_remaining = 0.7;
  return costs;
}

std::vector<CostModel> all_costs() {
  return {dear_values(), dear_memory(), small_is_large(), large_is_small(),
          small_is_large_in_lists()};
}

/// Where each machine has a certificate of its own, those of all are summed.
void expect_same_optimum(const Dataset& data, const TrainOptions& options) {
  const Threads threads(2);
  const Trained usual = train(made::copy_of(data), options, threads);
  ASSERT_EQ(usual.ended, Ended::converged);
  int number = 0;
  for (const CostModel& costs : all_costs()) {
    SCOPED_TRACE("costs " + std::to_string(number++));
    const Trained other = train(made::copy_of(data), options, Context(threads).with_costs(costs));
    EXPECT_EQ(other.ended, Ended::converged);
    EXPECT_LE(other.certificate.relative_gap, options.stop.relative_gap);
    // One optimum lies in both intervals.
    EXPECT_LE(other.certificate.dual, usual.certificate.primal);
    EXPECT_LE(usual.certificate.dual, other.certificate.primal);
  }
}

TEST(Costs, DecideTheWayAndNotTheOptimum) {
  const Dataset two = made::classification(300, 6, Storage::dense_floats, 3);
  const Dataset four = made::classification(240, 6, Storage::sparse, 4, 4);
  const Dataset numbers = made::regression(200, 5, Storage::dense_doubles, 5);
  for (const Kernel& kernel :
       {Kernel(Rbf{1}), Kernel(Rbf{300}), Kernel(Linear{}), Kernel(Laplacian{0.5})})
    for (const char* solver : {"auto", "smo", "primal-dual"}) {
      SCOPED_TRACE(std::string(solver) + ", " + std::to_string(kernel.index()));
      TrainOptions options{.task = Svc{.cost = 5}, .kernel = kernel};
      options.stop = {1e-5, 1e-5};
      options.solver = solver;
      expect_same_optimum(two, options);
      expect_same_optimum(four, options);
      options.task = Svr{.cost = 5};
      expect_same_optimum(numbers, options);
    }
}

TEST(Costs, DecideTheWayOfSquaredLossesWithAndWithoutABias) {
  const Dataset two = made::classification(300, 6, Storage::dense_floats, 3);
  for (const Kernel& kernel : {Kernel(Rbf{1}), Kernel(Linear{})})
    for (const Bias bias : {Bias::unpenalised, Bias::none})
      for (const MarginLoss& loss : {MarginLoss(Hinge{}), MarginLoss(SquaredHinge{})}) {
        SCOPED_TRACE(std::to_string(kernel.index()) + ' ' + std::to_string(loss.index()));
        TrainOptions options{.task = Svc{.cost = 2, .loss = loss, .bias = bias}, .kernel = kernel};
        options.stop = {1e-5, 1e-5};
        expect_same_optimum(two, options);
      }
}

TEST(Costs, DecideTheWayOfManyClasses) {
  const Dataset few_rows_each = made::classification(180, 6, Storage::dense_floats, 6, 12);
  for (const Multiclass scheme :
       {Multiclass::one_vs_one, Multiclass::one_vs_rest, Multiclass::crammer_singer}) {
    const Bias bias = scheme == Multiclass::crammer_singer ? Bias::none : Bias::unpenalised;
    TrainOptions options{.task = Svc{.cost = 2, .bias = bias, .multiclass = scheme},
                         .kernel = Rbf{1}};
    options.stop = {1e-5, 1e-5};
    SCOPED_TRACE(static_cast<int>(scheme));
    expect_same_optimum(few_rows_each, options);
  }
}

TEST(Costs, DecideTheWayOfFoldsAndNotWhatTheyPredict) {
  const Dataset numbers = made::regression(150, 5, Storage::dense_doubles, 5);
  TrainOptions options{.task = Svr{.cost = 5}, .kernel = Rbf{1}};
  options.stop = {1e-7, 1e-9};
  const Threads threads(2);
  const CrossValidated usual = cross_validate(made::copy_of(numbers), options, 5, threads);
  for (const CostModel& costs : all_costs()) {
    const CrossValidated other =
        cross_validate(made::copy_of(numbers), options, 5, Context(threads).with_costs(costs));
    EXPECT_EQ(other.ended, Ended::converged);
    ASSERT_EQ(other.predicted.size(), usual.predicted.size());
    for (std::size_t i = 0; i < usual.predicted.size(); ++i)
      EXPECT_NEAR(other.predicted[i], usual.predicted[i], 1e-4) << i;
  }
}

TEST(Costs, DecideTheWayOfImprovedApproximations) {
  const Dataset two = made::classification(300, 4, Storage::dense_floats, 3);
  TrainOptions options{.task = Svc{.cost = 2}, .kernel = Rbf{1}};
  options.approximate = Approximate{};
  options.true_gap = 1e-3;
  options.stop = {1e-5, 1e-5};
  const Threads threads(2);
  const Trained usual = train(made::copy_of(two), options, threads);
  for (const CostModel& costs : all_costs()) {
    const Trained other = train(made::copy_of(two), options, Context(threads).with_costs(costs));
    ASSERT_EQ(other.improvement.size(), 1u);
    EXPECT_LE(other.improvement[0].rounds.back().relative_gap, options.true_gap);
    for (const ImproveRound& round : other.improvement[0].rounds)
      for (const ImproveRound& before : usual.improvement[0].rounds) {
        EXPECT_LE(round.true_dual, before.primal);
        EXPECT_LE(before.true_dual, round.primal);
      }
  }
}

TEST(Costs, DecideTheWayOfStructuredMachines) {
  const enumerated::TableOracle oracle(40, 5, 7, 1, 3);
  const Structured problem{oracle, 3, Rescaling::margin, Slack::linear};
  Stop stop;
  stop.kkt = stop.relative_gap = 1e-7;
  const Threads threads(2);
  for_each_component<StructuredSolver>([&](const auto& solver) {
    SCOPED_TRACE(solver.name);
    const SolvedStructured usual = solve(problem, solver, stop, {threads});
    for (const CostModel& costs : all_costs()) {
      const SolvedStructured other =
          solve(problem, solver, stop, {Context(threads).with_costs(costs)});
      EXPECT_EQ(other.solution.ended, Ended::converged);
      EXPECT_LE(other.certificate.dual, usual.certificate.primal);
      EXPECT_LE(usual.certificate.dual, other.certificate.primal);
    }
  });
}

TEST(Costs, DecideTheWayToTheFinestCertificates) {
  const Dataset two = made::classification(300, 6, Storage::dense_floats, 3);
  TrainOptions options{.task = Svc{.cost = 5}, .kernel = Rbf{1}};
  options.stop = {1e-9, 1e-10};
  expect_same_optimum(two, options);
}

TEST(Costs, DecideTheWayOfPredictionsAndNotTheirValues) {
  const Dataset four = made::classification(240, 6, Storage::sparse, 4, 4);
  const Threads threads(2);
  for (const Kernel& kernel : {Kernel(Linear{}), Kernel(Rbf{1})}) {
    TrainOptions options{.task = Svc{.cost = 5}, .kernel = kernel};
    const Trained trained = train(made::copy_of(four), options, threads);
    const std::vector<double> usual = Predictor(trained.model).decision_values(four.x, threads);
    for (const CostModel& costs : all_costs()) {
      const std::vector<double> other =
          Predictor(trained.model, costs).decision_values(four.x, threads);
      ASSERT_EQ(other.size(), usual.size());
      for (std::size_t i = 0; i < usual.size(); ++i)
        EXPECT_NEAR(other[i], usual[i], 1e-4 * (1 + std::abs(usual[i]))) << i;
    }
  }
}

TEST(Costs, DecideWhichMachinesRace) {
  const Dataset two = made::classification(60, 4, Storage::dense_floats, 3);
  RaceOptions options;
  options.train = {.task = Svc{.cost = 2}, .kernel = Rbf{1}};
  options.only = {"smo"};
  const Threads threads(2);
  const Race usual = race(made::copy_of(two), options, threads, {});
  EXPECT_EQ(usual.lanes.size(), 1u);
  const Race more =
      race(made::copy_of(two), options, Context(threads).with_costs(small_is_large()), {});
  ASSERT_EQ(more.lanes.size(), 2u);
  const auto is_approximate = [](const Raced& each) { return each.lane.approximate.has_value(); };
  const auto approximate = std::ranges::find_if(more.lanes, is_approximate);
  ASSERT_NE(approximate, more.lanes.end());
  EXPECT_EQ(approximate->lane.approximate->rank, 30u);
  EXPECT_TRUE(approximate->converged());
  EXPECT_LE(more.best_dual, usual.best_primal);
  EXPECT_LE(usual.best_dual, more.best_primal);
}

/// `bench/costs` shows every number: what it measures of it, or which bench does.
TEST(Costs, AreAllShownByTheBench) {
  std::string bench;
  for (const std::string& line : testing_tree::lines(source_dir() / "bench/costs.cpp"))
    bench += line;
  const std::regex field(
      R"(^  (LinearCost|double|int|std::size_t|std::ptrdiff_t) (\w+)[ ={].*;.*)");
  std::size_t found = 0;
  for (const std::string& line :
       testing_tree::lines(source_dir() / "maxmargin/base/cost_model.hpp")) {
    std::smatch match;
    if (!std::regex_match(line, match, field)) continue;
    ++found;
    const std::string name = match[2];
    EXPECT_TRUE(std::regex_search(bench, std::regex("[\"(.]" + name + "[\") ]"))) << name;
  }
  EXPECT_GT(found, 80u);
}

}  // namespace
}  // namespace maxmargin::costs_test
