// Every loss with every kind of bias, and the nu forms: each solver that accepts the problem
// reaches the same optimum, and the certificate holds by the textbook's definitions, which share no
// code with the blocks.
#include <gtest/gtest.h>

#include <cmath>

#include "maxmargin/model/verify/verify.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::loss_conformance_test {
namespace {

struct NamedTask {
  std::string name;
  Task task;
};
void PrintTo(const NamedTask& task, std::ostream* out) { *out << task.name; }

std::vector<NamedTask> all_tasks() {
  std::vector<NamedTask> result;
  for (const Bias bias : {Bias::unpenalised, Bias::penalised, Bias::none}) {
    const auto add = [&](std::string_view loss, const Task& task) {
      result.push_back({std::string(loss) + "_" + std::string(to_string(bias)), task});
    };
    for_each_component<MarginLoss>([&](const auto& loss) {
      Svc task;
      task.loss = loss;
      task.bias = bias;
      task.cost = 2;
      task.class_weights = {{"1", 1.5}};
      add(loss.name, task);
    });
    for_each_component<ErrorLoss>([&](auto loss) {
      if constexpr (requires { loss.sigma; }) loss.sigma = 0.3;
      if constexpr (requires { loss.tau; }) loss.tau = 0.7;
      if constexpr (requires { loss.over; }) loss.over = 1.5;
      Svr task;
      task.loss = loss;
      task.bias = bias;
      task.cost = 2;
      add(loss.name, task);
    });
  }
  NuSvc margin;
  margin.nu = 0.6;
  margin.class_weights = {{"1", 1.5}};
  result.push_back({"nu_svc", margin});
  NuSvr tube;
  tube.nu = 0.3;
  tube.cost = 2;
  result.push_back({"nu_svr", tube});
  OneClass novelty;
  novelty.nu = 0.3;
  result.push_back({"one_class", novelty});
  return result;
}

class Losses : public testing::TestWithParam<NamedTask> {
 protected:
  /// Some rows come twice, one of them with another label.
  static Dataset data() {
    const Outcome outcome = outcome_of(GetParam().task);
    Dataset data = outcome == Outcome::number
                       ? made::regression(30, 3, made::Storage::dense_floats, 21)
                       : made::classification(30, 3, made::Storage::dense_floats, 22);
    std::vector<Index> which(30);
    for (Index i = 0; i < 30; ++i) which[i] = i;
    for (const Index again : {3u, 3u, 7u, 12u}) which.push_back(again);
    data = made::chosen(data, which);
    data.y.back() = -data.y.back();
    if (outcome == Outcome::novelty) data.y.clear();
    return data;
  }

  static TrainOptions options(const std::string& solver) {
    TrainOptions result;
    result.task = GetParam().task;
    result.kernel = Rbf{.gamma = 0.75};
    result.solver = solver;
    result.stop.kkt = 1e-8;
    result.stop.relative_gap = 1e-9;
    return result;
  }
};

TEST_P(Losses, SolversAgreeAndTheCertificateHolds) {
  std::vector<double> primals;
  bool interior = false;
  for_each_component<Solver>([&](const auto& solver) {
    SCOPED_TRACE(std::string(solver.name));
    try {
      const Trained trained = train(data(), options(std::string(solver.name)), Threads(2));
      EXPECT_EQ(trained.ended, Ended::converged) << trained.certificate.kkt;
      EXPECT_LE(trained.certificate.kkt, 1e-8);
      EXPECT_LE(trained.certificate.relative_gap, 1e-9);
      EXPECT_LE(trained.certificate.equality_residual, 1e-9);
      primals.push_back(trained.certificate.primal);
      interior = interior || solver.name == InteriorPoint::name;
      const std::vector<Verified> found = verify(trained.model, data(), Threads(1));
      EXPECT_TRUE(found[0].holds) << found[0].reason;
      const double size = std::abs(trained.certificate.primal);
      EXPECT_NEAR(found[0].recomputed.primal, trained.certificate.primal, 1e-6 * size);
      EXPECT_NEAR(found[0].recomputed.dual, trained.certificate.dual, 1e-6 * size);
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.fault(), Fault::usage) << refusal.what();
    }
  });
  // The method that takes them all is among them.
  EXPECT_TRUE(interior);
  ASSERT_FALSE(primals.empty());
  for (const double primal : primals) EXPECT_NEAR(primal, primals[0], 1e-8 * std::abs(primals[0]));
}

TEST_P(Losses, AWeightIsThatManyRows) {
  Dataset weighted = data(), repeated;
  weighted.weight.assign(weighted.rows(), 1.0);
  std::vector<Index> which;
  for (Index i = 0; i < weighted.rows(); ++i) {
    weighted.weight[i] = 1 + i % 3;
    for (Index n = 0; n <= i % 3; ++n) which.push_back(i);
  }
  repeated = made::chosen(data(), which);
  const double one = train(std::move(weighted), options("auto"), Threads(1)).certificate.primal;
  const double other = train(std::move(repeated), options("auto"), Threads(1)).certificate.primal;
  EXPECT_NEAR(one, other, 1e-9 * std::abs(one));
}

TEST_P(Losses, AFalseCertificateIsFound) {
  Trained trained = train(data(), options("auto"), Threads(1));
  Machine& machine = trained.model.machines[0];
  machine.coefficient[0] *= 1.01;
  EXPECT_FALSE(verify(trained.model, data(), Threads(1))[0].holds);
}

INSTANTIATE_TEST_SUITE_P(All, Losses, testing::ValuesIn(all_tasks()), [](const auto& instance) {
  std::string name = instance.param.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

// Kernel ridge regression without a bias has a solution in closed form: (K + 1/C) beta = y.
TEST(LossWitness, SquaredLossIsKernelRidgeRegression) {
  const Dataset data = made::regression(12, 3, made::Storage::dense_doubles, 5);
  TrainOptions options;
  Svr task;
  task.loss = Squared{};
  task.bias = Bias::none;
  task.cost = 3;
  options.task = task;
  options.kernel = Linear{};
  options.stop.kkt = 1e-10;
  options.stop.relative_gap = 1e-12;
  const Trained trained = train(made::copy_of(data), options, Threads(1));
  std::vector<double> beta(12, 0.0);
  const Machine& machine = trained.model.machines[0];
  for (std::size_t k = 0; k < machine.support.size(); ++k)
    beta[trained.model.support_row[machine.support[k]]] = machine.coefficient[k];
  const Rows x = data.x;
  for (std::size_t i = 0; i < 12; ++i) {
    double left = beta[i] / 3;
    for (std::size_t j = 0; j < 12; ++j)
      for (std::size_t d = 0; d < 3; ++d) left += x.value(3 * i + d) * x.value(3 * j + d) * beta[j];
    EXPECT_NEAR(left, data.y[i], 1e-9);
  }
}

TEST(LossWitness, HardMarginsHaveNoLoss) {
  TrainOptions options;
  Svc task;
  task.hard_margin = true;
  task.loss = Logistic{};
  options.task = task;
  EXPECT_THROW(
      train(made::classification(12, 3, made::Storage::dense_floats, 5), options, Threads(1)),
      Error);
}

}  // namespace
}  // namespace maxmargin::loss_conformance_test
