// Machines that follow the solution while an example goes, against machines trained without it.
#include "maxmargin/train/estimate/unlearn.hpp"

#include <gtest/gtest.h>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/folds/retrain.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::unlearn_test {
namespace {

using made::Storage;

TrainOptions tight(Task task, Kernel kernel) {
  TrainOptions options{.task = std::move(task), .kernel = std::move(kernel)};
  options.stop.kkt = 1e-7;
  options.stop.relative_gap = 1e-8;
  return options;
}

struct Counts {
  std::size_t followed = 0, all = 0;
};

/// The one machine of a data set.
struct Solved {
  Solved(const Dataset& data, const TrainOptions& options, const Threads& threads)
      : prepared(prepare(made::copy_of(data), options, threads)),
        problem(prepared.problems.list.front()),
        formulated(formulate(prepared.examples, problem.examples, problem.loss, options.kernel,
                             problem.bias, threads)),
        certified(solve_from(nullptr, formulated.qp,
                             chosen_solver(formulated.qp, options.stop, options, threads).solver,
                             threads)) {}
  WholeMachine whole() const { return {formulated, problem, certified}; }

  const Prepared prepared;
  const Subproblem problem;
  const Formulated formulated;
  const Certified certified;
};

/// Leaves out each support vector both ways; a value that was followed must be that of the machine
/// trained afresh.
Counts compared(const Dataset& data, const TrainOptions& options, const Context& context) {
  const Threads& threads = context.threads;
  const Solved solved(data, options, threads);
  const auto& [prepared, problem, formulated, certified] = solved;
  std::vector<std::size_t> examples;
  for (const auto& [row, beta] : formulated.coefficients(certified.solution.a))
    for (std::size_t i = 0; i < problem.examples.size(); ++i)
      if (problem.examples[i].row == row) examples.push_back(i);
  const std::vector<double> f = values_without(solved.whole(), examples, options, context);
  Counts counts;
  for (std::size_t k = 0; k < examples.size(); ++k) {
    ++counts.all;
    if (std::isnan(f[k])) continue;
    ++counts.followed;
    std::vector<bool> left_out(data.rows(), false);
    const Index row = problem.examples[examples[k]].row;
    left_out[row] = true;
    const Retrained rest = train_afresh(prepared, left_out, options, threads);
    EXPECT_EQ(rest.machines.size(), 1u);
    const Model model =
        put_together(prepared, rest.problems, options, rest.machines, threads).model;
    const Predictor predictor(model);
    const double truth = predictor.decision_values(rows_to_predict(prepared, std::span(&row, 1)),
                                                   threads, Precision::exact)[0];
    // f of two machines that are both optimal to 1e-7.
    EXPECT_NEAR(f[k], truth, 2e-6 * (1 + std::abs(truth))) << "row " << row;
  }
  return counts;
}

void add(Counts& sum, const Counts& each) {
  sum.followed += each.followed;
  sum.all += each.all;
}

TEST(Unlearn, SaysWhatMachinesTrainedWithoutTheRowSay) {
  Counts sum;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Dataset data =
        made::classification(20 + seed % 23, 2 + seed % 3, Storage::dense_doubles, 300 + seed);
    const Bias bias = seed % 5 == 3   ? Bias::none
                      : seed % 5 == 4 ? Bias::penalised
                                      : Bias::unpenalised;
    const Kernel kernel = seed % 3 == 0   ? Kernel(Rbf{4.0})
                          : seed % 3 == 1 ? Kernel(Rbf{0.5})
                                          : Kernel(Polynomial{.gamma = 1, .degree = 2, .coef0 = 1});
    const double cost = std::pow(10, static_cast<double>(seed % 4) - 1);
    add(sum, compared(data, tight(Svc{.cost = cost, .bias = bias}, kernel), Threads(1)));
  }
  EXPECT_GT(sum.all, 1000u);
  // Where no variable is left free, b is not determined, and nothing is said.
  EXPECT_GT(sum.followed, sum.all * 3 / 4);
}

/// With none near at first, what comes near is looked at again over all variables; where one
/// exchange is too much, less is said. What is said stays the same.
TEST(Unlearn, SaysTheSameWhateverItsWayIsSaidToCost) {
  const Threads threads(1);
  const auto followed = [&](const UnlearnChoice& choice) {
    CostModel costs;
    costs.unlearning = choice;
    Counts sum;
    for (std::uint64_t seed = 0; seed < 10; ++seed)
      add(sum, compared(made::classification(30, 2, Storage::dense_doubles, 300 + seed),
                        tight(Svc{.cost = 1}, Rbf{1.0}), Context(threads).with_costs(costs)));
    EXPECT_GT(sum.all, 50u);
    return sum.followed;
  };
  const std::size_t usual = followed({});
  EXPECT_GT(usual, 50u);
  EXPECT_GT(followed({.least_near = 0, .near_for_free = 0}), usual / 2);
  EXPECT_LT(followed({.most_exchanged = 0}), usual);
}

TEST(Unlearn, TakesPointsThatDependOnEachOther) {
  // A linear machine in the plane: no more than three points can be free, and where another one
  // would become so it may end without a word.
  Counts sum;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    add(sum, compared(made::classification(40, 2, Storage::dense_doubles, 500 + seed),
                      tight(Svc{.cost = 5}, Linear{}), Threads(1)));
  EXPECT_GT(sum.followed, sum.all / 4);
}

TEST(Unlearn, TakesTubesSquaresAndSquaredHinges) {
  Counts sum;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset numbers = made::regression(30, 2, Storage::dense_doubles, 600 + seed);
    const double cost = std::pow(10, static_cast<double>(seed % 3));
    const ErrorLoss loss = seed % 3 == 0   ? ErrorLoss(EpsilonInsensitive{0.1})
                           : seed % 3 == 1 ? ErrorLoss(Squared{})
                                           : ErrorLoss(SquaredEpsilonInsensitive{0.1});
    add(sum, compared(numbers, tight(Svr{.cost = cost, .loss = loss}, Rbf{1.0}), Threads(1)));
    const Dataset classes = made::classification(30, 2, Storage::dense_doubles, 700 + seed);
    add(sum,
        compared(classes, tight(Svc{.cost = cost, .loss = SquaredHinge{}}, Rbf{1.0}), Threads(1)));
  }
  EXPECT_GT(sum.followed, sum.all * 9 / 10);
}

TEST(Unlearn, LeavesARowsEqualsAndWeightsInPlace) {
  Dataset data = made::classification(40, 2, Storage::dense_doubles, 14);
  Features copy = Features::dense(2);
  copy.append(data.x.view());
  data.x.append(copy.view());
  const std::vector<double> labels = data.y;
  data.y.insert(data.y.end(), labels.begin(), labels.end());
  data.weight = made::weights(80, 3);
  const Counts counts = compared(data, tight(Svc{.cost = 0.5}, Rbf{1.0}), Threads(1));
  EXPECT_GT(counts.followed, counts.all * 9 / 10);
}

TEST(Unlearn, HasTheSameBitsForAnyNumberOfThreads) {
  const Dataset data = made::classification(400, 3, Storage::dense_floats, 15);
  const TrainOptions options = tight(Svc{.cost = 3}, Rbf{3.0});
  const Solved solved(data, options, Threads(1));
  std::vector<std::size_t> examples;
  for (std::size_t i = 0; i < 400; ++i)
    if (solved.certified.solution.a[solved.formulated.shares[i].variable] > 0)
      examples.push_back(i);
  const WholeMachine whole = solved.whole();
  const auto one = values_without(whole, examples, options, Threads(1));
  const auto two = values_without(whole, examples, options, Threads(3));
  ASSERT_GT(one.size(), 64u);
  for (std::size_t k = 0; k < one.size(); ++k) {
    EXPECT_EQ(std::isnan(one[k]), std::isnan(two[k]));
    if (!std::isnan(one[k])) {
      EXPECT_EQ(one[k], two[k]) << k;
    }
  }
}

TEST(Unlearn, SaysNothingWhereItIsCancelled) {
  const Dataset data = made::classification(60, 3, Storage::dense_doubles, 16);
  const TrainOptions options = tight(Svc{.cost = 3}, Rbf{3.0});
  const Solved solved(data, options, Threads(1));
  const std::vector<std::size_t> examples{0, 1, 2};
  for (const double value :
       values_without(solved.whole(), examples, options,
                      {Threads(1), [](const Progress&) { return Control::cancel; }}))
    EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace maxmargin::unlearn_test
