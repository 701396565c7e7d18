#include "maxmargin/train/machines/small_machines.hpp"

#include <gtest/gtest.h>

#include "maxmargin/base/rng.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::small_machines_test {
namespace {

using made::Storage;

/// Many classes of few rows.
Dataset few_rows_each(int classes, std::size_t rows) {
  return made::classification(rows * static_cast<std::size_t>(classes), 4, Storage::dense_doubles,
                              5, classes);
}

TrainOptions options_for(const Kernel& kernel, double cost, const char* solver) {
  TrainOptions options{.task = Svc{.cost = cost}, .kernel = kernel};
  options.stop = {1e-6, 1e-6};
  options.solver = solver;
  return options;
}

void expect_verified(const Model& model, const Dataset& data) {
  const std::string bytes = to_bytes(model);
  const Model again = from_bytes(std::as_bytes(std::span(bytes)), "memory");
  for (const Verified& machine : verify(again, data, Threads(1)))
    EXPECT_TRUE(machine.holds) << machine.reason;
}

TEST(SmallMachines, HaveTheOptimumOfTheGeneralWay) {
  for (const std::size_t rows : {2u, 5u, 15u})
    for (const double cost : {0.1, 1.0, 100.0})
      for (const Kernel& kernel :
           {Kernel(Rbf{0.5}), Kernel(Linear{}), Kernel(Polynomial{1.0, 2, 1.0})}) {
        const Dataset data = few_rows_each(12, rows);
        const Trained small =
            train(made::copy_of(data), options_for(kernel, cost, "auto"), Threads(2));
        const Trained general =
            train(made::copy_of(data), options_for(kernel, cost, "smo"), Threads(2));
        EXPECT_EQ(small.ended, Ended::converged);
        ASSERT_EQ(small.model.machines.size(), general.model.machines.size());
        for (std::size_t k = 0; k < small.model.machines.size(); ++k) {
          const Certificate& one = small.model.machines[k].certificate;
          const Certificate& other = general.model.machines[k].certificate;
          EXPECT_LE(one.relative_gap, 1e-6);
          EXPECT_LE(one.kkt, 1e-6);
          // Both enclose the same optimum.
          EXPECT_LE(one.dual, other.primal);
          EXPECT_LE(other.dual, one.primal);
        }
        expect_verified(small.model, data);
      }
}

TEST(SmallMachines, HaveTheSameBitsForAnyNumberOfThreads) {
  const Dataset data = few_rows_each(20, 3);
  const auto bytes = [&](int threads) {
    return to_bytes(
        train(made::copy_of(data), options_for(Rbf{0.5}, 1, "auto"), Threads(threads)).model);
  };
  const std::string alone = bytes(1);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(bytes(threads), alone);
}

TEST(SmallMachines, EqualRowsOfTwoClassesAreLeftToTheGeneralWay) {
  Dataset data = few_rows_each(12, 3);
  data.x.append(data.x.view(), std::vector<Index>{0, 1, 2, 3});
  for (const Index row : {5, 6, 7, 8}) data.y.push_back(data.y[row]);
  const Trained trained = train(made::copy_of(data), options_for(Rbf{0.5}, 1, "auto"), Threads(1));
  EXPECT_EQ(trained.ended, Ended::converged);
  expect_verified(trained.model, data);
}

TEST(SmallMachines, AreStoppedByWhoeverWatches) {
  const Dataset data = few_rows_each(150, 2);
  int told = 0;
  const Observer impatient = [&](const Progress&) {
    ++told;
    return Control::cancel;
  };
  const Trained trained =
      train(made::copy_of(data), options_for(Rbf{0.5}, 1, "auto"), {Threads(1), impatient});
  EXPECT_EQ(told, 1);
  EXPECT_EQ(trained.ended, Ended::cancelled);
  EXPECT_EQ(trained.model.machines.size() + untrained_machines(trained.model), 150u * 149 / 2);
}

}  // namespace
}  // namespace maxmargin::small_machines_test
