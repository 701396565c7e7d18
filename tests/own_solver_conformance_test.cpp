// The machines that are in no list because they have solvers of their own, with every kernel on
// dense and sparse data: Crammer and Singer's and the linear-programming machine. The reference is
// the definition, by naive double loops from the coefficients alone.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "maxmargin/model/file/file.hpp"
#include "maxmargin/model/predict.hpp"
#include "maxmargin/train/train.hpp"
#include "tests/all_kernels.hpp"
#include "tests/made_data.hpp"

namespace maxmargin::own_solver_conformance_test {
namespace {

using made::NamedKernel;
using made::Storage;

constexpr std::size_t rows = 40, columns = 6;
constexpr double cost = 2;

/// A machine at the training rows.
struct Seen {
  std::vector<double> beta, f;
  double bias = 0;
  double norm = 0;  ///< beta'K beta
  double size = 0;  ///< of the sums that make f
};

class OwnSolver : public testing::TestWithParam<NamedKernel> {
 protected:
  static Dataset completed(Dataset data) {
    data.weight = made::weights(rows, 13);
    if (std::holds_alternative<Precomputed>(GetParam().kernel))
      return made::gram_of(std::move(data));
    return data;
  }

  static TrainOptions options(const Task& task) {
    TrainOptions result{.task = task, .kernel = GetParam().kernel};
    result.stop = {1e-5, 1e-6};
    result.memory_bytes = std::size_t{1} << 20;
    return result;
  }

  static Seen seen(const Model& model, const Machine& machine, const Dataset& data) {
    Seen result;
    result.beta.assign(rows, 0.0);
    result.bias = machine.lambda.empty() ? 0 : machine.bias();
    result.size = std::abs(result.bias);
    for (std::size_t k = 0; k < machine.support.size(); ++k)
      result.beta[model.support_row[machine.support[k]]] += machine.coefficient[k];
    for (std::size_t i = 0; i < rows; ++i) {
      double g = 0;
      for (std::size_t j = 0; j < rows; ++j)
        if (result.beta[j] != 0)
          g += result.beta[j] * naive_value(GetParam().kernel, data.x, j, data.x, i);
      result.norm += result.beta[i] * g;
      result.f.push_back(g + result.bias);
      result.size +=
          std::abs(result.beta[i] * naive_value(GetParam().kernel, data.x, i, data.x, i));
    }
    return result;
  }

  /// Trains, looks at what holds for every machine, and returns each of them seen at the rows.
  static std::vector<Seen> expect_conforming(const Dataset& data, const TrainOptions& options,
                                             Certificate& certificate) {
    const Trained trained = train(made::copy_of(data), options, Threads(3));
    certificate = trained.certificate;
    EXPECT_EQ(trained.ended, Ended::converged);
    // A linear program has a dual whatever the kernel; what its sums are rounded by is only known
    // of Mercer kernels.
    EXPECT_EQ(certificate.mercer, definite(options.kernel) != Definite::no);
    if (certificate.mercer || options.l1) {
      EXPECT_GE(certificate.gap, 0);
      EXPECT_LE(certificate.relative_gap, 1e-6);
    }
    EXPECT_EQ(digest(trained.model), digest(train(made::copy_of(data), options, Threads(1)).model));

    std::vector<Seen> all;
    const Predictor predictor(trained.model);
    const std::vector<double> f = predictor.decision_values(predictor.prepared(data.x), Threads(2));
    const std::size_t machines = trained.model.machines.size();
    for (std::size_t m = 0; m < machines; ++m) {
      all.push_back(seen(trained.model, trained.model.machines[m], data));
      for (std::size_t i = 0; i < rows; ++i)
        EXPECT_NEAR(f[i * machines + m], all[m].f[i], 2e-6 * all[m].size) << "row " << i;
    }
    return all;
  }

  static void for_each_storage(const std::function<void(Storage)>& check) {
#ifdef MAXMARGIN_SANITIZED
    // The code after the kernel's is the same for all.
    const auto storages = {Storage::sparse};
#else
    const auto storages = {Storage::dense_floats, Storage::dense_doubles, Storage::sparse};
#endif
    for (const Storage storage : storages) {
      SCOPED_TRACE(made::name_of(storage));
      check(storage);
    }
  }
};

TEST_P(OwnSolver, CrammerSingerIsThatOfTheTextbook) {
  constexpr std::size_t classes = 3;
  constexpr double factor = 1.5;  // of the first class
  for_each_storage([&](Storage storage) {
    const Dataset data = completed(made::classification(rows, columns, storage, 12, classes));
    for (const Bias bias : {Bias::none, Bias::penalised}) {
      Certificate certificate;
      const std::vector<Seen> machine =
          expect_conforming(data,
                            options(Svc{.cost = cost,
                                        .bias = bias,
                                        .multiclass = Multiclass::crammer_singer,
                                        .class_weights = {{"1", factor}}}),
                            certificate);
      ASSERT_EQ(machine.size(), classes);
      double primal = 0, dual = 0;
      for (const Seen& each : machine) {
        const double sum = std::accumulate(each.beta.begin(), each.beta.end(), 0.0);
        EXPECT_NEAR(each.bias, bias == Bias::penalised ? sum : 0, 1e-9);
        const double half_norm = (each.norm + each.bias * each.bias) / 2;
        primal += half_norm;
        dual -= half_norm;
      }
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t own = static_cast<std::size_t>(data.y[i]) - 1;
        const double price = cost * (own == 0 ? factor : 1) * data.weight[i];
        double largest = machine[own].f[i], sum = 0;
        for (std::size_t k = 0; k < classes; ++k) {
          sum += machine[k].beta[i];
          EXPECT_LE(machine[k].beta[i], (k == own ? price : 0) + 1e-12);
          if (k == own) continue;
          largest = std::max(largest, 1 + machine[k].f[i]);
          dual -= machine[k].beta[i];
        }
        EXPECT_NEAR(sum, 0, 1e-9);
        primal += price * (largest - machine[own].f[i]);
      }
      EXPECT_NEAR(certificate.primal, primal, 1e-5 * std::abs(primal));
      EXPECT_NEAR(certificate.dual, dual, 1e-5 * std::abs(primal));
    }
  });
}

TEST_P(OwnSolver, LinearProgramIsThatOfTheTextbook) {
  const auto expect_textbook = [&](const Dataset& data, const Task& task, Bias bias,
                                   const std::function<double(double, double)>& loss) {
    TrainOptions how = options(task);
    how.l1 = true;
    Certificate certificate;
    const std::vector<Seen> machines = expect_conforming(data, how, certificate);
    ASSERT_EQ(machines.size(), 1u);
    const Seen& machine = machines[0];
    const double sum = std::accumulate(machine.beta.begin(), machine.beta.end(), 0.0);
    if (bias != Bias::unpenalised) {
      EXPECT_NEAR(machine.bias, bias == Bias::penalised ? sum : 0, 1e-9);
    }
    double primal = 0;
    for (std::size_t i = 0; i < rows; ++i)
      primal += std::abs(machine.beta[i]) + cost * data.weight[i] * loss(data.y[i], machine.f[i]);
    EXPECT_NEAR(certificate.primal, primal, 1e-6 * primal);
  };
  for_each_storage([&](Storage storage) {
    const Dataset classes = completed(made::classification(rows, columns, storage, 12));
    const Dataset numbers = completed(made::regression(rows, columns, storage, 11));
    for (const Bias bias : {Bias::unpenalised, Bias::penalised, Bias::none}) {
      // The class of the first machine's f > 0 is the second one, +1.
      expect_textbook(classes, Svc{.cost = cost, .bias = bias}, bias,
                      [](double y, double f) { return std::max(0.0, 1 - y * f); });
      expect_textbook(numbers, Svr{.cost = cost, .bias = bias}, bias,
                      [](double y, double f) { return std::max(0.0, std::abs(y - f) - 0.1); });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Kernels, OwnSolver, testing::ValuesIn(made::all_kernels()),
                         [](const auto& instance) {
                           std::string name = instance.param.name;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace maxmargin::own_solver_conformance_test
