// What operations are said to cost decides how an optimum is found, never which it is: the context
// hands costs down to every choice, so that small problems take each of the ways.
#include <gtest/gtest.h>

#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"
#include "tests/other_costs.hpp"

namespace maxmargin::costs_test {
namespace {

using made::Storage;
using other_costs::dear_memory;
using other_costs::dear_values;

void expect_same_optimum(const Dataset& data, const TrainOptions& options) {
  const Threads threads(2);
  const Trained usual = train(made::copy_of(data), options, threads);
  ASSERT_EQ(usual.ended, Ended::converged);
  for (const CostModel& costs : {dear_values(), dear_memory()}) {
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
  for (const Kernel& kernel : {Kernel(Rbf{1}), Kernel(Linear{}), Kernel(Laplacian{0.5})})
    for (const char* solver : {"auto", "smo", "primal-dual"}) {
      TrainOptions options{.task = Svc{.cost = 5}, .kernel = kernel};
      options.stop = {1e-5, 1e-5};
      options.solver = solver;
      expect_same_optimum(two, options);
      expect_same_optimum(four, options);
      options.task = Svr{.cost = 5};
      expect_same_optimum(numbers, options);
    }
}

}  // namespace
}  // namespace maxmargin::costs_test
