// Whatever coefficients a model has, verify's bounds of it have the optimum between them.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::bounds_test {
namespace {

/// Every fifth row is an earlier one again: points with several variables.
Dataset with_repetitions(const Dataset& data) {
  Rng rng(4);
  std::vector<Index> which(data.rows());
  for (std::size_t i = 0; i < which.size(); ++i)
    which[i] = static_cast<Index>(i % 5 == 4 ? rng.below(i) : i);
  Dataset result = made::chosen(data, which);
  result.y = data.y;
  return result;
}

struct Bounds {
  double primal = 0, dual = 0;
};
template <class Parts, class CertificateOf>
Bounds bounds_of(const Parts& parts, const CertificateOf& certificate_of) {
  Bounds sum;
  for (const auto& part : parts) {
    sum.primal += certificate_of(part).primal;
    sum.dual += certificate_of(part).dual;
  }
  return sum;
}

/// Coefficients change by more or less: they leave their equations and their bounds. Or the bias
/// does alone, and what is free beside it.
void move_coefficients(Model& model, double size, Rng& rng) {
  const double share = rng.uniform() < 0.3 ? 0 : 0.5;
  for (Machine& machine : model.machines) {
    for (double& each : machine.coefficient)
      if (rng.uniform() < share) each += size * rng.normal();
    for (double& each : machine.lambda) each += size * rng.normal();
  }
}

void expect_the_optimum_within(const Dataset& data, TrainOptions options, const char* what) {
  options.stop.kkt = 1e-8;
  options.stop.relative_gap = 1e-9;
  Trained trained = train(made::copy_of(data), options, Threads(2));
  ASSERT_EQ(trained.ended, Ended::converged) << what;
  const std::vector<Machine> honest = trained.model.machines;
  const Bounds optimum = bounds_of(honest, [](const Machine& each) { return each.certificate; });
  Rng rng(9);
  std::size_t bounded = 0;
  for (int trial = 0; trial < 60; ++trial) {
    trained.model.machines = honest;
    move_coefficients(trained.model, std::pow(10, rng.uniform(-9, 0.5)), rng);
    const Bounds found = bounds_of(verify(trained.model, data, Threads(2)),
                                   [](const Verified& each) { return each.recomputed; });
    const double rounding = 1e-12 * std::abs(optimum.primal);
    EXPECT_LE(found.dual, optimum.primal + rounding) << what << ", trial " << trial;
    EXPECT_GE(found.primal, optimum.dual - rounding) << what << ", trial " << trial;
    bounded += std::isfinite(found.dual) && std::isfinite(found.primal);
  }
  EXPECT_GT(bounded, 30u) << what;
}

TEST(VerifyBounds, HoldTheOptimumWhateverTheCoefficientsAre) {
  const Dataset classes =
      with_repetitions(made::classification(60, 3, made::Storage::dense_doubles, 1));
  const Dataset several =
      with_repetitions(made::classification(60, 3, made::Storage::dense_doubles, 2, 3));
  const Dataset numbers =
      with_repetitions(made::regression(60, 3, made::Storage::dense_doubles, 3));
  for (const Bias bias : {Bias::unpenalised, Bias::penalised, Bias::none}) {
    expect_the_optimum_within(classes, {.task = Svc{.cost = 2, .bias = bias}, .kernel = Rbf{2}},
                              "hinge");
    expect_the_optimum_within(numbers, {.task = Svr{.cost = 2, .bias = bias}, .kernel = Rbf{2}},
                              "tube");
  }
  expect_the_optimum_within(classes,
                            {.task = Svc{.cost = 2, .loss = SquaredHinge{}}, .kernel = Linear{}},
                            "squared hinge");
  expect_the_optimum_within(classes, {.task = Svc{.cost = 2, .loss = Logistic{}}, .kernel = Rbf{2}},
                            "logistic");
  expect_the_optimum_within(several, {.task = Svc{.cost = 2}, .kernel = Rbf{2}}, "three classes");
}

TEST(VerifyBounds, HoldTheOptimumOfClassesAtOnce) {
  const Dataset several =
      with_repetitions(made::classification(60, 3, made::Storage::dense_doubles, 2, 3));
  for (const Bias bias : {Bias::penalised, Bias::none})
    expect_the_optimum_within(
        several,
        {.task = Svc{.cost = 2, .bias = bias, .multiclass = Multiclass::crammer_singer},
         .kernel = Rbf{2}},
        "classes at once");
}

TEST(VerifyBounds, HoldTheOptimumWhereFunctionsAreFree) {
  const Dataset classes =
      with_repetitions(made::classification(60, 3, made::Storage::dense_doubles, 1));
  const Dataset numbers =
      with_repetitions(made::regression(60, 3, made::Storage::dense_doubles, 3));
  for (const Bias bias : {Bias::unpenalised, Bias::none})
    for (const Dataset* data : {&classes, &numbers}) {
      TrainOptions options{.kernel = Rbf{2}};
      options.task = data == &classes ? Task(Svc{.cost = 2, .bias = bias})
                                      : Task(Svr{.cost = 2, .bias = bias});
      options.functions = {{ParametricFunction::Kind::column, "1", {}},
                           {ParametricFunction::Kind::column, "2", {}}};
      expect_the_optimum_within(*data, options, "functions");
    }
}

}  // namespace
}  // namespace maxmargin::bounds_test
