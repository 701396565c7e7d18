// nu machines whose bias is penalised or none: the machine with the cost or the tube that they
// find.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/folds/cross_validate.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::nu_bias_test {
namespace {

using made::Storage;

TrainOptions asked(const Task& task, const std::string& solver = "auto") {
  TrainOptions options;
  options.task = task;
  options.kernel = Rbf{0.7};
  options.solver = solver;
  options.stop = {.kkt = 1e-7, .relative_gap = 1e-7};
  return options;
}

std::vector<double> values(const Model& model, const Dataset& data) {
  return Predictor(model).decision_values(data.x, Threads(1), Precision::exact);
}

void expect_verified(const Model& model, const Dataset& data) {
  const auto loaded = [&] {
    return from_bytes(std::as_bytes(std::span<const char>(to_bytes(model))), "model");
  };
  for (const Verified& machine : verify(loaded(), data, Threads(1)))
    EXPECT_TRUE(machine.holds) << machine.reason;
  Model wrong = loaded();
  wrong.machines[0].certificate.dual *= 1.001;
  wrong.machines[0].certificate.best_dual = wrong.machines[0].certificate.dual;
  EXPECT_FALSE(verify(wrong, data, Threads(1))[0].holds);
}

class NuBias : public testing::TestWithParam<Bias> {};

TEST_P(NuBias, ClassesAreThoseOfTheCostThatTheMarginTells) {
  const Dataset data = made::classification(80, 2, Storage::dense_doubles, 2);
  for (const double nu : {0.3, 0.6}) {
    NuSvc task;
    task.nu = nu;
    task.bias = GetParam();
    const Trained found = train(made::copy_of(data), asked(task), Threads(1));
    ASSERT_EQ(found.ended, Ended::converged);
    const Machine& machine = found.model.machines[0];
    ASSERT_GT(machine.width, 0);
    expect_verified(found.model, data);
    // Divided by rho it is the machine of the cost 1 / rho.
    Svc twin;
    twin.cost = 1 / machine.width;
    twin.bias = GetParam();
    const Trained other = train(made::copy_of(data), asked(twin), Threads(1));
    const std::vector<double> have = values(found.model, data), want = values(other.model, data);
    for (std::size_t i = 0; i < have.size(); ++i) EXPECT_NEAR(have[i], want[i], 1e-4);
    // The variables, which are the coefficients times rho, sum up to nu.
    double sum = 0;
    for (const double each : machine.coefficient) sum += std::abs(each);
    EXPECT_NEAR(sum * machine.width, nu * static_cast<double>(data.rows()), 1e-6);
  }
}

TEST_P(NuBias, NumbersAreThoseOfTheTubeThatIsFound) {
  const Dataset data = made::regression(70, 2, Storage::dense_doubles, 3);
  for (const double nu : {0.2, 0.7}) {
    NuSvr task;
    task.cost = 2;
    task.nu = nu;
    task.bias = GetParam();
    const Trained found = train(made::copy_of(data), asked(task), Threads(1));
    ASSERT_EQ(found.ended, Ended::converged);
    expect_verified(found.model, data);
    const double epsilon = found.model.machines[0].width;
    ASSERT_GE(epsilon, 0);
    Svr twin;
    twin.cost = 2;
    twin.loss = EpsilonInsensitive{epsilon};
    twin.bias = GetParam();
    const Trained other = train(made::copy_of(data), asked(twin), Threads(1));
    const std::vector<double> have = values(found.model, data), want = values(other.model, data);
    for (std::size_t i = 0; i < have.size(); ++i) EXPECT_NEAR(have[i], want[i], 1e-4);
    EXPECT_NEAR(found.certificate.primal,
                other.certificate.primal + 2 * nu * static_cast<double>(data.rows()) * epsilon,
                1e-5 * found.certificate.primal);
  }
}

TEST_P(NuBias, SolversAgree) {
  const Dataset data = made::classification(60, 2, Storage::dense_doubles, 4);
  NuSvc task;
  task.nu = 0.4;
  task.bias = GetParam();
  const double optimum =
      train(made::copy_of(data), asked(task, "interior-point"), Threads(1)).certificate.primal;
  for (const char* solver : {"smo", "primal-dual", "auto"}) {
    const Trained found = train(made::copy_of(data), asked(task, solver), Threads(1));
    EXPECT_EQ(found.ended, Ended::converged) << solver;
    EXPECT_NEAR(found.certificate.primal, optimum, 1e-6 * std::abs(optimum)) << solver;
  }
}

// No nu up to 1 is infeasible, whatever the sizes of the classes.
TEST_P(NuBias, EveryNuIsFeasible) {
  Dataset data = made::classification(40, 2, Storage::dense_doubles, 5);
  for (std::size_t i = 0; i < data.rows(); ++i) data.weight.push_back(data.y[i] > 0 ? 1 : 0.2);
  NuSvc task;
  task.nu = 0.9;
  EXPECT_THROW(train(made::copy_of(data), asked(task), Threads(1)), Error);
  task.bias = GetParam();
  EXPECT_EQ(train(made::copy_of(data), asked(task), Threads(1)).ended, Ended::converged);
}

TEST_P(NuBias, FoldsAreTheMachinesWithoutTheirRows) {
  NuSvc task;
  task.nu = 0.3;
  task.bias = GetParam();
  const Dataset data = made::classification(60, 2, Storage::dense_doubles, 6);
  const CrossValidated folds = cross_validate(made::copy_of(data), asked(task), 4, Threads(1));
  EXPECT_EQ(folds.ended, Ended::converged);
  EXPECT_GT(folds.accuracy, 0.6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NuBias, testing::Values(Bias::penalised, Bias::none),
                         [](const auto& instance) {
                           return instance.param == Bias::none ? "none" : "penalised";
                         });

}  // namespace
}  // namespace maxmargin::nu_bias_test
