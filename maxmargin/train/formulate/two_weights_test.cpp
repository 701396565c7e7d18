// Regression with two weights a row: of predicting too little, and of predicting too much.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "maxmargin/base/error.hpp"
#include "maxmargin/data/readers/read.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"
#include "tests/temporary_folder.hpp"

namespace maxmargin::two_weights_test {
namespace {

using made::Storage;

TrainOptions asked(const Task& task) {
  TrainOptions options;
  options.task = task;
  options.kernel = Rbf{0.5};
  options.stop = {.kkt = 1e-7, .relative_gap = 1e-8};
  return options;
}

Dataset rows_with(std::size_t rows, std::uint64_t seed, bool repeated) {
  Dataset data = made::regression(rows, 2, Storage::dense_doubles, seed);
  if (repeated) {
    // Equal rows with other targets and weights share points, and some of them variables.
    const Dataset again = made::regression(rows / 2, 2, Storage::dense_doubles, seed);
    data.x.append(again.x.view());
    for (std::size_t i = 0; i < again.rows(); ++i) data.y.push_back(again.y[i] + (i % 3 == 0));
  }
  Rng rng(seed);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    data.weight.push_back(i % 7 == 0 ? 0 : rng.uniform(0.3, 2));
    data.weight_over.push_back(i % 5 == 0 ? 0 : rng.uniform(0.3, 2));
  }
  return data;
}

/// 1/2 |w|^2 and the losses, by their definition.
template <class Chosen>
double primal_of(const Chosen& loss, double cost, const Dataset& data, const Trained& found) {
  const std::vector<double> f =
      Predictor(found.model).decision_values(data.x, Threads(1), Precision::exact);
  const Machine& machine = found.model.machines[0];
  double sum = 0, norm = 0;
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    norm +=
        machine.coefficient[k] * (f[found.model.support_row[machine.support[k]]] - machine.bias());
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double price = cost * (f[i] > data.y[i] ? data.weight_over[i] : data.weight[i]);
    if (price > 0) sum += loss.value(data.y[i], f[i], price);
  }
  return norm / 2 + sum;
}

TEST(TwoWeights, EveryLossOfARegressionTakesThem) {
  for_each_component<ErrorLoss>([&](const auto& loss) {
    for (const bool repeated : {false, true}) {
      SCOPED_TRACE(std::string(loss.name) + (repeated ? ", equal rows" : ""));
      const Dataset data = rows_with(40, 3, repeated);
      Svr task;
      task.cost = 2;
      task.loss = loss;
      const Trained found = train(made::copy_of(data), asked(task), Threads(1));
      EXPECT_EQ(found.ended, Ended::converged);
      EXPECT_NEAR(primal_of(loss, 2, data, found), found.certificate.primal,
                  1e-6 * found.certificate.primal);
      for (const Verified& machine : verify(found.model, data, Threads(1)))
        EXPECT_TRUE(machine.holds) << machine.reason;
    }
  });
}

TEST(TwoWeights, OneFactorForAllRowsIsThatOfTheLoss) {
  Dataset data = made::regression(60, 2, Storage::dense_doubles, 6);
  Svr task;
  task.loss = EpsilonInsensitive{0.1, 3, 0.5};
  const double expected = train(made::copy_of(data), asked(task), Threads(1)).certificate.primal;
  data.weight.assign(data.rows(), 0.5);
  data.weight_over.assign(data.rows(), 3);
  task.loss = EpsilonInsensitive{};
  const double found = train(made::copy_of(data), asked(task), Threads(1)).certificate.primal;
  EXPECT_NEAR(found, expected, 1e-7 * expected);
}

TEST(TwoWeights, AreForRegressionsWithACost) {
  Dataset data = made::classification(30, 2, Storage::dense_doubles, 1);
  data.weight.assign(data.rows(), 1);
  data.weight_over.assign(data.rows(), 2);
  for (const Task& task : std::vector<Task>{Svc{}, NuSvc{}, NuSvr{}, OneClass{}})
    EXPECT_THROW(train(made::copy_of(data), asked(task), Threads(1)), Error);
  data.weight_over[3] = -1;
  EXPECT_THROW(train(made::copy_of(data), asked(Svr{}), Threads(1)), Error);
}

class TwoWeightsFile : public testing::Test {
 protected:
  std::string written(const std::string& name, const std::string& text) const {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string refusal(const ReadOptions& options) const {
    try {
      read(written("d.csv", "y,a,u,o\n1,2,3,4\n5,6,7,8\n"), options, Threads(1));
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  const TemporaryFolder folder_;
};

TEST_F(TwoWeightsFile, StandOnALineOrInTwoColumns) {
  ReadOptions options;
  options.weight_file = written("weights", "0.5 2\n3,4\n");
  const std::string text = written("d.svm", "1 1:2\n2 1:3\n");
  const Dataset data = read(text, options, Threads(1));
  EXPECT_EQ(data.weight, (std::vector<double>{0.5, 3}));
  EXPECT_EQ(data.weight_over, (std::vector<double>{2, 4}));
  Dataset one = made::copy_of(data);
  one.weight_over.clear();
  EXPECT_NE(content_hash(data), content_hash(one));

  ReadOptions columns;
  columns.weight_column = "u";
  columns.over_column = "o";
  const Dataset table = read(written("d.csv", "y,a,u,o\n1,2,3,4\n5,6,7,8\n"), columns, Threads(1));
  EXPECT_EQ(table.x.columns(), 1u);
  EXPECT_EQ(table.weight, (std::vector<double>{3, 7}));
  EXPECT_EQ(table.weight_over, (std::vector<double>{4, 8}));
}

TEST_F(TwoWeightsFile, RefusedWhereTheyAreNotTwo) {
  ReadOptions options;
  options.weight_file = written("weights", "0.5 2\n3\n");
  EXPECT_NE(refusal(options).find("weights:2:1: has one weight"), std::string::npos)
      << refusal(options);
  options.weight_file = written("weights", "0.5 2\n3 x\n");
  EXPECT_NE(refusal(options).find("weights:2:3: 'x' is not a weight"), std::string::npos)
      << refusal(options);
  ReadOptions columns;
  columns.over_column = "o";
  EXPECT_NE(refusal(columns).find("none of too little"), std::string::npos) << refusal(columns);
  columns.weight_column = "o";
  EXPECT_NE(refusal(columns).find("another column"), std::string::npos) << refusal(columns);
}

}  // namespace
}  // namespace maxmargin::two_weights_test
