// nu-SVC and nu-SVR: what nu promises, and the optimum by another road.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/data/equal_rows.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/formulate/problems.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/dense_optimum.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::nu_test {
namespace {

using made::Storage;

constexpr Stop tight{.kkt = 1e-8, .relative_gap = 1e-9};

/// How much of the weight lies where the machine pays for it, and how much where it has a
/// coefficient.
struct Shares {
  double errors = 0, support = 0, all = 0;
};

/// `excess(row, f)`: above 0 for a row that is paid for. At the optimum each of these has the
/// coefficient `bound` times its weight, a row below 0 has none, and the coefficients sum up to nu
/// of what they could: from that the two shares follow, and how near they are to nu. In a tube of
/// no width those of both sides may stand at one row and cancel in part: then it is at most that.
template <class Excess>
Shares shares_of(const Model& model, const Dataset& data, double nu, double bound, bool has_width,
                 Excess&& excess) {
  Shares shares;
  const Machine& machine = model.machines.at(0);
  std::vector<double> size(data.rows(), 0.0);
  double sum = 0, beyond = 0, between = 0;
  for (std::size_t k = 0; k < machine.support.size(); ++k) {
    const double coefficient = std::abs(machine.coefficient[k]);
    size[model.support_row[machine.support[k]]] = coefficient;
    sum += coefficient;
  }
  const std::vector<double> f =
      Predictor(model).decision_values(data.x, Threads(1), Precision::exact);
  for (std::size_t i = 0; i < data.rows(); ++i) {
    const double weight = data.weight.empty() ? 1 : data.weight[i];
    const double by = excess(i, f[i]);
    shares.all += weight;
    if (by > 1e-5) {
      shares.errors += weight;
      beyond += size[i];
      EXPECT_NEAR(size[i], bound * weight, 1e-9 * bound);
    } else if (by < -1e-5) {
      EXPECT_EQ(size[i], 0);
    } else {
      between += size[i];
    }
    if (size[i] > 0) shares.support += weight;
  }
  EXPECT_LE(sum, nu * bound * shares.all * (1 + 1e-9));
  if (has_width) {
    EXPECT_GE(sum, nu * bound * shares.all * (1 - 1e-9));
  }
  EXPECT_NEAR(beyond + between, sum, 1e-9 * sum);
  shares.errors /= shares.all;
  shares.support /= shares.all;
  return shares;
}

TEST(NuSvc, IsAboveTheShareOfMarginErrorsAndBelowThatOfSupportVectors) {
  for (const double nu : {0.35, 0.6, 0.8})
    for (const bool weighted : {false, true}) {
      Dataset data = made::classification(120, 3, Storage::dense_doubles, 1);
      if (weighted) data.weight = made::weights(120, 2);
      const Model model =
          train(made::copy_of(data), {.task = NuSvc{.nu = nu}, .kernel = Rbf{2}, .stop = tight},
                Threads(1))
              .model;
      const Machine& machine = model.machines.at(0);
      const auto up = model.classes[static_cast<std::size_t>(machine.positive)];
      const auto excess = [&](std::size_t i, double f) {
        return 1 - (shortest(data.y[i]) == up ? f : -f);
      };
      const Shares shares = shares_of(model, data, nu, 1 / machine.width, true, excess);
      EXPECT_LE(shares.errors, nu + 1e-9);
      EXPECT_GE(shares.support, nu - 1e-9);
    }
}

TEST(NuSvr, IsAboveTheShareOutsideOfTheTubeAndBelowThatOfSupportVectors) {
  for (const double nu : {0.1, 0.4, 0.7, 0.9})
    for (const bool weighted : {false, true}) {
      Dataset data = made::regression(120, 3, Storage::dense_doubles, 3);
      if (weighted) data.weight = made::weights(120, 4);
      const Model model =
          train(made::copy_of(data),
                {.task = NuSvr{.cost = 5, .nu = nu}, .kernel = Rbf{2}, .stop = tight}, Threads(1))
              .model;
      const double epsilon = model.machines.at(0).width;
      EXPECT_GT(epsilon, nu < 0.9 ? 1e-4 : 0);
      const auto excess = [&](std::size_t i, double f) {
        return std::abs(data.y[i] - f) - epsilon;
      };
      const Shares shares = shares_of(model, data, nu, 5, epsilon > 1e-4, excess);
      EXPECT_LE(shares.errors, nu + 1e-9);
      EXPECT_GE(shares.support, nu - 1e-9);
    }
}

/// The objective of the one machine of a task, from an interior point method over a dense matrix.
double dense_dual(const Dataset& data, const Task& task, const Kernel& kernel) {
  const Subproblems problems = subproblems(data, task);
  Examples examples;
  examples.x = std::make_shared<const Features>(std::move(made::copy_of(data).x));
  examples.first_equal = first_equal_rows(*examples.x);
  const Subproblem& problem = problems.list[0];
  return reference::dense_optimum(
             formulate(examples, problem.examples, problem.loss, kernel, problem.bias).qp)
      .dual;
}

TEST(Nu, HasTheOptimumThatADenseInteriorPointMethodFinds) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Dataset classes = made::classification(40, 3, Storage::sparse, seed);
    classes.weight = made::weights(40, seed);
    Dataset numbers = made::regression(25, 3, Storage::dense_doubles, seed);
    numbers.weight = made::weights(25, seed);
    const auto compare = [](const Dataset& data, const Task& task, const Kernel& kernel) {
      const Trained trained =
          train(made::copy_of(data), {.task = task, .kernel = kernel, .stop = tight}, Threads(1));
      const double dual = dense_dual(data, task, kernel);
      EXPECT_NEAR(trained.certificate.dual, dual, 1e-8 * std::abs(dual));
      EXPECT_NEAR(trained.certificate.primal, dual, 1e-8 * std::abs(dual));
    };
    for (const double nu : {0.3, 0.6}) {
      compare(classes, NuSvc{.nu = nu}, Rbf{3});
      compare(numbers, NuSvr{.cost = 4, .nu = nu}, Rbf{1});
      compare(numbers, NuSvr{.cost = 4, .nu = nu}, Linear{});
    }
  }
}

// One machine in two forms: nu-SVC is C-SVC with C = 1 / rho, nu-SVR is eps-SVR with its epsilon.
TEST(Nu, IsTheMachineOfThePriceOrTubeThatItFinds) {
  const auto expect_same = [](const Dataset& data, const Model& one, const Task& task) {
    const Model other =
        train(made::copy_of(data), {.task = task, .kernel = Rbf{2}, .stop = tight}, Threads(1))
            .model;
    const auto f = Predictor(one).decision_values(data.x, Threads(1), Precision::exact);
    const auto g = Predictor(other).decision_values(data.x, Threads(1), Precision::exact);
    for (std::size_t i = 0; i < f.size(); ++i) EXPECT_NEAR(f[i], g[i], 2e-4) << i;
  };
  const Dataset classes = made::classification(80, 3, Storage::dense_doubles, 5);
  const Model margin =
      train(made::copy_of(classes), {.task = NuSvc{.nu = 0.5}, .kernel = Rbf{2}, .stop = tight},
            Threads(1))
          .model;
  expect_same(classes, margin, Svc{.cost = 1 / margin.machines[0].width});
  const Dataset numbers = made::regression(80, 3, Storage::dense_doubles, 6);
  const Model tube =
      train(made::copy_of(numbers),
            {.task = NuSvr{.cost = 3, .nu = 0.3}, .kernel = Rbf{2}, .stop = tight}, Threads(1))
          .model;
  expect_same(numbers, tube, Svr{.cost = 3, .loss = EpsilonInsensitive{tube.machines[0].width}});
}

}  // namespace
}  // namespace maxmargin::nu_test
