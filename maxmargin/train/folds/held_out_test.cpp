#include "maxmargin/train/folds/held_out.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/folds/retrain.hpp"
#include "maxmargin/train/machines/machines.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::held_out_test {
namespace {

using made::Storage;

Model of_pairs(std::initializer_list<std::pair<int, int>> pairs, Multiclass multiclass) {
  Model model;
  model.outcome = Outcome::classes;
  model.multiclass = multiclass;
  model.classes = {"a", "b", "c", "d"};
  for (const auto& [positive, negative] : pairs) {
    Machine& machine = model.machines.emplace_back();
    machine.positive = positive;
    machine.negative = negative;
  }
  return model;
}

using Doubts = std::vector<std::size_t>;

TEST(HeldOut, DoubtsVotesOnlyWhereTheWinnerDependsOnThem) {
  const Model model =
      of_pairs({{1, 0}, {2, 0}, {3, 0}, {2, 1}, {3, 1}, {3, 2}}, Multiclass::one_vs_one);
  const std::vector<double> blur(6, 0.1);
  const auto doubts = [&](const std::vector<double>& f) { return in_doubt(model, f, blur); };
  EXPECT_EQ(doubts({-1, -1, -1, 1, 1, 1}), Doubts{});              // 0 has three votes
  EXPECT_EQ(doubts({-1, -1, -1, 0.01, 1, -0.01}), Doubts{});       // whoever is second
  EXPECT_EQ(doubts({-1, -1, -0.01, 1, 1, 1}), Doubts{2});          // 0 or 3
  EXPECT_EQ(doubts({-1, 1, 0.05, 1, -1, -0.05}), (Doubts{2, 5}));  // 2 may have two or three
  EXPECT_EQ(doubts({-0.09, 1, 1, -1, 1, 1}), Doubts{});            // 3 has three
}

TEST(HeldOut, DoubtsTheLargestValuesOfOneAgainstTheRest) {
  const Model model = of_pairs({{0, -1}, {1, -1}, {2, -1}}, Multiclass::one_vs_rest);
  const std::vector<double> blur{0.1, 0.1, 0.1};
  EXPECT_EQ(in_doubt(model, std::vector<double>{0.01, -1, 2}, blur), Doubts{});
  EXPECT_EQ(in_doubt(model, std::vector<double>{1.9, -1, 2}, blur), (Doubts{0, 2}));
}

TEST(HeldOut, DoubtsSignsButNoNumbers) {
  Model model = of_pairs({{1, 0}}, Multiclass::one_vs_one);
  const std::vector<double> blur{0.1};
  EXPECT_EQ(in_doubt(model, std::vector<double>{0.05}, blur), Doubts{0});
  EXPECT_EQ(in_doubt(model, std::vector<double>{-0.2}, blur), Doubts{});
  model.outcome = Outcome::number;
  EXPECT_EQ(in_doubt(model, std::vector<double>{0.05}, blur), Doubts{});
}

TEST(HeldOut, HasTheValuesOfAModelWithItsSupportVectors) {
  std::vector<TrainOptions> list;
  list.push_back({.task = Svc{.cost = 5}, .kernel = Rbf{1}});
  list.push_back({.task = NuSvc{.nu = 0.3}, .kernel = Rbf{1}});
  list.push_back({.task = Svc{.cost = 5, .multiclass = Multiclass::one_vs_rest},
                  .kernel = Polynomial{.gamma = 0.3, .degree = 3, .coef0 = 1}});
  list.push_back({.task = Svc{.cost = 1}, .kernel = Sigmoid{.gamma = 0.2, .coef0 = -1}});
  list.push_back({.task = Svc{.cost = 1, .bias = Bias::penalised}, .kernel = Laplacian{1}});
  for (const TrainOptions& options : list) {
    SCOPED_TRACE(std::string(name_of(options.kernel)));
    Dataset data = made::classification(150, 4, Storage::sparse, 5, 4);
    std::vector<Index> rows;
    for (Index i = 0; i < 150; ++i) rows.push_back(i < 20 ? i / 2 : i);  // some are equal
    data = made::chosen(data, rows);
    const Dataset copy = made::copy_of(data);
    const Prepared prepared = prepare(std::move(data), options, Threads(1));
    ASSERT_TRUE(HeldOut::takes(prepared));
    std::vector<bool> left_out(150, false);
    std::vector<Index> held_out;
    for (Index i = 1; i < 150; i += 3) {
      left_out[i] = true;
      held_out.push_back(i);
    }
    const Retrained rest = train_afresh(prepared, left_out, options, Threads(1));
    const auto model = [&](auto&& together) {
      return together(prepared, rest.problems, options, rest.machines, Threads(1)).model;
    };
    const Model full = model(put_together), bare = model(summed_up);
    EXPECT_EQ(bare.support.count(), 0u);
    const std::vector<double> values =
        HeldOut(prepared, bare).decision_values(held_out, Threads(1));
    EXPECT_EQ(values, HeldOut(prepared, bare).decision_values(held_out, Threads(3)));
    const std::vector<double> expected = Predictor(full).decision_values(
        made::chosen(copy, held_out).x, Threads(1), Precision::exact);
    ASSERT_EQ(values.size(), expected.size());
    // An Engine promises 1e-6 of the largest kernel value.
    double largest = 1;
    for (const double value : prepared.examples.K->diagonal()) largest = std::max(largest, value);
    for (std::size_t k = 0; k < values.size(); ++k) {
      double sum = 0;
      for (const double c : full.machines[k % full.machines.size()].coefficient) sum += std::abs(c);
      EXPECT_NEAR(values[k], expected[k], 1e-6 * largest * sum);
    }
  }
}

}  // namespace
}  // namespace maxmargin::held_out_test
