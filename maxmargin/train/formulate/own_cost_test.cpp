// A convex cost of the user's own: what is refused, and that it is as good as one that is built in.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/base/error.hpp"
#include "maxmargin/loss/convex_cost.hpp"
#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::own_cost_test {
namespace {

using made::Storage;

ConvexCost logistic() {
  ConvexCost cost;
  cost.label = "my logistic";
  cost.value = [](double z) { return std::max(0.0, -z) + std::log1p(std::exp(-std::abs(z))); };
  cost.slope = [](double z) { return -1 / (1 + std::exp(z)); };
  cost.conjugate = [](double t) {
    const auto part = [](double x) { return x > 0 ? x * std::log(x) : 0.0; };
    return part(-t) + part(1 + t);
  };
  cost.conjugate_slope = [](double t) { return std::log((1 + t) / -t); };
  cost.conjugate_bend = [](double t) { return -1 / (t * (1 + t)); };
  cost.least_slope = -1;
  cost.most_slope = 0;
  return cost;
}

/// Huber's, whose slopes reach their limits.
ConvexCost huber(double sigma) {
  ConvexCost cost;
  cost.label = "my huber";
  cost.value = [=](double z) {
    const double e = std::abs(z);
    return e < sigma ? e * e / (2 * sigma) : e - sigma / 2;
  };
  cost.slope = [=](double z) { return std::clamp(z / sigma, -1.0, 1.0); };
  cost.conjugate = [=](double t) { return sigma * t * t / 2; };
  cost.conjugate_slope = [=](double t) { return sigma * t; };
  cost.conjugate_bend = [=](double) { return sigma; };
  cost.least_slope = -1;
  cost.most_slope = 1;
  return cost;
}

std::string refusal(ConvexCost cost) {
  try {
    checked(std::move(cost));
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(OwnCost, FunctionsThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal(logistic()), "none");
  EXPECT_EQ(refusal(huber(0.5)), "none");
  ConvexCost welsch = huber(1);  // robust, but not convex
  welsch.value = [](double z) { return 1 - std::exp(-z * z / 2); };
  EXPECT_NE(refusal(welsch).find("is not convex at z ="), std::string::npos) << refusal(welsch);
  ConvexCost slope = logistic();
  slope.slope = [](double z) { return -1 / (2 + std::exp(z)); };
  EXPECT_NE(refusal(slope).find("has not the slope"), std::string::npos) << refusal(slope);
  ConvexCost conjugate = logistic();
  conjugate.conjugate = [](double t) { return t; };
  EXPECT_NE(refusal(conjugate).find("has not the conjugate"), std::string::npos);
  ConvexCost derivative = logistic();
  derivative.conjugate_slope = [](double t) { return t; };
  EXPECT_NE(refusal(derivative).find("derivative of its conjugate"), std::string::npos);
  ConvexCost bend = logistic();
  bend.conjugate_bend = [](double) { return 1.0; };
  EXPECT_NE(refusal(bend).find("second derivative"), std::string::npos) << refusal(bend);
  ConvexCost nothing = logistic();
  nothing.conjugate = nullptr;
  EXPECT_NE(refusal(nothing).find("has no conjugate"), std::string::npos);
  ConvexCost limits = logistic();
  limits.least_slope = -0.5;
  EXPECT_NE(refusal(limits).find("beyond its limits"), std::string::npos) << refusal(limits);
  ConvexCost rising = logistic();
  rising.least_slope = 0.5;
  rising.most_slope = 1;
  EXPECT_NE(refusal(rising).find("never falls"), std::string::npos);
}

TrainOptions asked(Task task, const std::string& solver) {
  TrainOptions options;
  options.task = std::move(task);
  options.kernel = Rbf{0.5};
  options.solver = solver;
  options.stop = {.kkt = 1e-4, .relative_gap = 1e-5};
  return options;
}

/// The same optimum as that of the loss that is built in, by every solver that takes general costs.
void expect_same(const Task& own, const Task& built_in, const Dataset& data) {
  const double optimum =
      train(made::copy_of(data), asked(built_in, "interior-point"), Threads(1)).certificate.primal;
  for (const char* solver : {"auto", "interior-point", "newton", "irls", "platt", "chunking",
                             "decomposition", "gradient-descent"}) {
    SCOPED_TRACE(solver);
    // It moves pairs, which the row of a free bias ties together.
    const bool is_free = std::visit(
        [](const auto& task) {
          if constexpr (requires { task.bias; }) return task.bias == Bias::unpenalised;
          return true;
        },
        own);
    if (std::string_view(solver) == "platt" && !is_free) continue;
    const Trained found = train(made::copy_of(data), asked(own, solver), Threads(1));
    EXPECT_EQ(found.ended, Ended::converged);
    EXPECT_GE(found.certificate.primal, optimum * (1 - 2e-5));
    EXPECT_LE(found.certificate.dual, optimum);
    EXPECT_NEAR(found.certificate.primal, optimum, 5e-5 * optimum);
  }
}

TEST(OwnCost, OfMarginsIsAsGoodAsTheOneThatIsBuiltIn) {
  for (const Bias bias : {Bias::unpenalised, Bias::penalised}) {
    Svc own, built_in;
    own.cost = built_in.cost = 2;
    own.bias = built_in.bias = bias;
    own.own = checked(logistic());
    built_in.loss = Logistic{};
    Dataset data = made::classification(70, 3, Storage::dense_doubles, 3);
    for (std::size_t i = 0; i < data.rows(); ++i) data.weight.push_back(i % 5 == 0 ? 2 : 1);
    expect_same(own, built_in, data);
  }
}

TEST(OwnCost, OfErrorsMayReachItsSlopes) {
  Svr own, built_in;
  own.cost = built_in.cost = 3;
  own.own = checked(huber(0.3));
  built_in.loss = Huber{0.3};
  expect_same(own, built_in, made::regression(60, 2, Storage::dense_doubles, 4));
}

// The gradient of the primal, by differences, is zero at the machine that was found.
TEST(OwnCost, WithoutATwinIsAtAMinimum) {
  Svr task;
  task.cost = 2;
  task.own = log_cosh();
  const Dataset data = made::regression(40, 2, Storage::dense_doubles, 5);
  TrainOptions options = asked(task, "interior-point");
  options.stop = {.kkt = 1e-8, .relative_gap = 1e-9};
  const Trained found = train(made::copy_of(data), options, Threads(1));
  ASSERT_EQ(found.ended, Ended::converged);
  const std::vector<double> f =
      Predictor(found.model).decision_values(data.x, Threads(1), Precision::exact);
  // beta_i = -C c'(f_i - y_i)
  std::vector<double> beta(data.rows(), 0.0);
  const Machine& machine = found.model.machines[0];
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    beta[found.model.support_row[machine.support[k]]] = machine.coefficient[k];
  double sum = 0;
  for (std::size_t i = 0; i < data.rows(); ++i) {
    EXPECT_NEAR(beta[i], -2 * std::tanh(f[i] - data.y[i]), 1e-6);
    sum += beta[i];
  }
  EXPECT_NEAR(sum, 0, 1e-9);
  // A model in a file predicts, and says that nobody else knows its cost.
  const Model loaded =
      from_bytes(std::as_bytes(std::span<const char>(to_bytes(found.model))), "model");
  EXPECT_EQ(Predictor(loaded).decision_values(data.x, Threads(1), Precision::exact), f);
  EXPECT_THROW(verify(loaded, data, Threads(1)), Error);
}

TEST(OwnCost, AHardMarginHasNone) {
  Svc task;
  task.hard_margin = true;
  task.own = checked(logistic());
  EXPECT_THROW(train(made::classification(20, 2, Storage::dense_doubles, 1), asked(task, "auto"),
                     Threads(1)),
               Error);
}

}  // namespace
}  // namespace maxmargin::own_cost_test
